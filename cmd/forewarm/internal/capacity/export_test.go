package capacity

// Quantity is quantity, for its test.
func Quantity(v float64) string { return quantity(v) }

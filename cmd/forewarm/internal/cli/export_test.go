package cli

// Quantity is quantity, for its test.
func CapacityQuantity(v float64) string { return quantity(v) }

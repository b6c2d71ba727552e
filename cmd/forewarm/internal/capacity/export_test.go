package capacity

// Quantity is quantity, for its test.
var Quantity = quantity

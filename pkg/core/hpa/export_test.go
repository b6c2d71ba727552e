package hpa

// ErrNoPods means that a Value target has nothing to multiply.
var ErrNoPods = errNoPods

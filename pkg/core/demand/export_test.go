package demand

// ErrChanges means that stored changes are invalid.
var ErrChanges = errChanges

// Bound is the most that is justified now.
func (f *Filter) Bound() Bound { return f.bound }

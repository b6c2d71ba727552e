package demand

// Bound is the most that is justified now.
func (f *Filter) Bound() Bound { return f.bound }

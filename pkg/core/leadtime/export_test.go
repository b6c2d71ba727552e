package leadtime

// The errors of Start.Validate.
var ErrClocks, ErrShortage, ErrStuck = errClocks, errShortage, errStuck

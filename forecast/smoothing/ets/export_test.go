package ets

// SetDeviation replaces the standard deviation of the errors.
func (f *Fitted) SetDeviation(d float64) { f.deviation = d }

// SetTrend replaces the trend at the origin.
func (f *Fitted) SetTrend(b float64) { f.state.trend = b }

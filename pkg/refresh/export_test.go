package refresh

// WaitForDays waits for the forecasts of next days that are under way.
func (l *Loop) WaitForDays() { l.days.Wait() }

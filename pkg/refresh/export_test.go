package refresh

// WaitForBackground waits for what is being made in the background.
func (l *Loop) WaitForBackground() { l.background.Wait() }

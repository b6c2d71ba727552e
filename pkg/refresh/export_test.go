package refresh

// WaitForBeside waits for what is being made beside the steps.
func (l *Loop) WaitForBackground() { l.background.Wait() }

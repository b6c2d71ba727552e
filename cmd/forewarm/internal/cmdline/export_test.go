package cmdline

import (
	"io"
	"time"
)

// OnTerminal is a bar on a terminal of so many columns.
func OnTerminal(out io.Writer, columns int, now func() time.Time) *ProgressBar {
	b := NewProgressBar(out, false, now)
	b.columns, b.interval = columns, redraw
	return b
}

package cmdline

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/forewarm/forewarm/pkg/printable"
)

const (
	// redraw is the minimum time between two drawings on a terminal. report is the minimum time between two lines elsewhere, so work that
	// takes less time prints nothing there.
	redraw, report = 100 * time.Millisecond, 10 * time.Second
	// width is the width of the bar itself in columns.
	width = 20
	// page is the width that is used if a terminal does not report its own.
	page = 80
	// The remaining time is shown only after this much time and this share of the work. Before that, it would be a guess.
	minElapsed, minShare = 2 * time.Second, 0.02
	// erase moves to the first column and clears the line.
	erase = "\r\x1b[K"
)

// ProgressBar reports one piece of work after another. Its methods are safe for concurrent use; a nil Bar reports nothing.
type ProgressBar struct {
	out      io.Writer
	columns  int // Columns of the terminal; 0 if out is not a terminal.
	interval time.Duration
	now      func() time.Time

	mu           sync.Mutex
	task         string
	done, total  int
	begun, shown time.Time
	drawn        bool
	said         []string
}

// NewProgressBar writes to out, with the clock now; quiet returns nil.
func NewProgressBar(out io.Writer, quiet bool, now func() time.Time) *ProgressBar {
	if quiet {
		return nil
	}
	b := &ProgressBar{out: out, interval: report, now: now}
	// On a dumb terminal, a line cannot be overwritten.
	if columns, is := Columns(out, page); is && os.Getenv("TERM") != "dumb" {
		b.columns, b.interval = columns, redraw
	}
	return b
}

// Begin begins a piece of work of so many parts, and ends the one before.
func (b *ProgressBar) Begin(what string, total int) {
	if b == nil {
		return
	}
	b.End()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.task, b.done, b.total, b.begun = what, 0, max(total, 1), b.now()
	b.shown = b.begun
	if b.columns > 0 {
		b.draw()
	}
}

// SetTask names the current part of the work.
func (b *ProgressBar) SetTask(what string) { b.change(func() { b.task = what }) }

// Add adds parts that are done.
func (b *ProgressBar) Add(parts int) { b.change(func() { b.done = min(b.done+parts, b.total) }) }

// change updates the state of the work and draws it if it is time.
func (b *ProgressBar) change(do func()) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
	b.refresh()
}

// End clears the bar from the terminal, so that what is printed next stands alone.
func (b *ProgressBar) End() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(Raw(b.out), erase)
	}
	b.drawn = false
}

// Say writes a line that stays, once.
func (b *ProgressBar) Say(text string) {
	if b == nil {
		return
	}
	b.End()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.said, text) {
		b.said = append(b.said, text)
		fmt.Fprintln(b.out, printable.Line(text))
	}
}

// refresh draws or writes the state if it is time.
func (b *ProgressBar) refresh() {
	now := b.now()
	if now.Sub(b.shown) < b.interval {
		return
	}
	b.shown = now
	if b.columns > 0 {
		b.draw()
		return
	}
	fmt.Fprintln(b.out, printable.Line(b.task)+": "+b.status())
}

// draw overwrites the previous drawing, with at most one line.
func (b *ProgressBar) draw() {
	full := b.done * width / b.total
	done := strings.Repeat("█", full) + strings.Repeat("·", width-full)
	line := "▕" + done + "▏ " + b.status() + "  " + printable.Line(b.task)
	if runes := []rune(line); len(runes) >= b.columns { // Text in the last column would wrap the line.
		line = string(runes[:b.columns-1])
	}
	fmt.Fprint(Raw(b.out), erase+line)
	b.drawn = true
}

// status returns the share that is done and the approximate time for the rest at the pace so far.
func (b *ProgressBar) status() string {
	share := float64(b.done) / float64(b.total)
	text := fmt.Sprintf("%2.0f %%", math.Floor(100*share))
	elapsed := b.now().Sub(b.begun)
	if elapsed < minElapsed || share < minShare || b.done == b.total {
		return text
	}
	return text + ", about " + formatRough(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
}

// formatRough formats a duration with the precision of an estimate.
func formatRough(d time.Duration) string {
	const seconds = 90 * time.Second
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%d s", max(1, int(d.Round(time.Second)/time.Second)))
	case d < seconds:
		return fmt.Sprintf("%d s", d.Round(5*time.Second)/time.Second)
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", d.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// Raw is where a terminal's own commands are written, such as colours, which a printable.Writer would escape. Nothing goes
// there that others wrote.
func Raw(out io.Writer) io.Writer {
	if w, ok := out.(*printable.Writer); ok {
		return w.Unwrap()
	}
	return out
}

// Columns is the width of a terminal, and whether it is one: otherwise, and where a terminal does not tell, a width is
// given.
func Columns(out io.Writer, otherwise int) (columns int, is bool) {
	file, ok := Raw(out).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return otherwise, false
	}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		return width, true
	}
	return otherwise, true
}

// ColumnsAndColor is the width of a terminal, and whether it may have colours.
func ColumnsAndColor(out io.Writer, otherwise int) (columns int, color bool) {
	columns, is := Columns(out, otherwise)
	return columns, is && os.Getenv("NO_COLOR") == ""
}

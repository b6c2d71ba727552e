package collect

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Recorder turns readings into points. It must be used from one goroutine.
type Recorder struct {
	lines map[Series]*openLine
}

// openLine is a line whose last step is not over.
type openLine struct {
	Line

	step int64
	sum  float64
	n    int
}

// NewRecorder continues an earlier recording; the zero Hour is an empty one.
func NewRecorder(before Hour) *Recorder {
	r := &Recorder{lines: make(map[Series]*openLine, len(before.Lines))}
	for _, l := range before.Lines {
		if len(l.Means) == 0 {
			continue
		}
		own := &openLine{Line: l, step: l.last()}
		own.Means = slices.Clone(l.Means)
		r.lines[l.Series] = own
	}
	return r
}

// Add adds a reading of a series, 0 … 1. The point of a step is the plain mean over its readings, which are evenly
// spaced. A reading of an earlier step than the last is dropped, unless it is earlier by more than the history's
// length: then the clock was set back, and the series is restarted.
func (r *Recorder) Add(now time.Time, s Series, value float64) {
	if math.IsNaN(value) {
		return
	}
	step := stepOf(now)
	l, found := r.lines[s]
	switch {
	case !found:
		l = &openLine{Line: Line{Series: s, First: step}, step: step}
		r.lines[s] = l
	case l.step-step >= maxPoints:
		*l = openLine{Line: Line{Series: s, First: step}, step: step}
	case step < l.step:
		return
	}
	if step > l.step {
		l.close()
		l.step = step
	}
	l.sum += value
	l.n++
}

// close makes a point of the step that is over. After a gap of the history's whole length the series is restarted.
func (l *openLine) close() {
	if l.n == 0 {
		return
	}
	mean := float32(min(max(l.sum/float64(l.n), 0), 1))
	l.sum, l.n = 0, 0
	missing := l.step - l.First - int64(len(l.Means))
	switch {
	case missing < 0:
		// The point exists already: the agent was restarted within its step.
		return
	case len(l.Means) == 0 || missing >= maxPoints:
		l.First, l.Means = l.step, append(l.Means[:0], mean)
		return
	}
	for range missing {
		l.Means = append(l.Means, noReading)
	}
	l.Means = append(l.Means, mean)
	if over := int64(len(l.Means)) - maxPoints; over > 0 {
		l.Means = append(l.Means[:0], l.Means[over:]...)
		l.First += over
	}
}

// Hour returns the steps that are over at a time. Points that are older than an hour are dropped.
func (r *Recorder) Hour(now time.Time) Hour {
	step := stepOf(now)
	lines := make([]Line, 0, len(r.lines))
	for s, l := range r.lines {
		if l.step < step {
			l.close()
		}
		if age := step - max(l.step, l.First); age > maxPoints || age < -maxPoints {
			delete(r.lines, s)
			continue
		}
		if line, some := l.since(step - maxPoints); some {
			lines = append(lines, line)
		}
	}
	r.dropOldest()
	slices.SortFunc(lines, func(a, b Line) int { return a.Series.Compare(b.Series) })
	return Hour{Lines: lines}
}

// since copies a line's points from a step on, and reports whether there are any.
func (l *openLine) since(step int64) (Line, bool) {
	old := min(max(step-l.First, 0), int64(len(l.Means)))
	return Line{Series: l.Series, First: l.First + old, Means: slices.Clone(l.Means[old:])}, old < int64(len(l.Means))
}

// dropOldest drops the series that ended first where there are more than maxSeries.
func (r *Recorder) dropOldest() {
	if len(r.lines) <= maxSeries {
		return
	}
	ends := make([]*openLine, 0, len(r.lines))
	for _, l := range r.lines {
		ends = append(ends, l)
	}
	slices.SortFunc(ends, func(a, b *openLine) int {
		return cmp.Or(cmp.Compare(a.step, b.step), a.Series.Compare(b.Series))
	})
	for _, l := range ends[:len(ends)-maxSeries] {
		delete(r.lines, l.Series)
	}
}

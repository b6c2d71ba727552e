package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Recorder takes readings and makes points of them. It is for one goroutine.
type Recorder struct {
	lines map[Series]*open
}

// open is a line with a step that is not over.
type open struct {
	Line

	step int64
	sum  float64
	n    int
}

// NewRecorder goes on with what was recorded before: the zero Hour for nothing.
func NewRecorder(before Hour) *Recorder {
	r := &Recorder{lines: make(map[Series]*open, len(before.Lines))}
	for _, l := range before.Lines {
		if len(l.Means) == 0 {
			continue
		}
		own := &open{Line: l, step: l.last()}
		own.Means = slices.Clone(l.Means)
		r.lines[l.Series] = own
	}
	return r
}

// Add takes what a series was over a reading, 0 … 1. The point of a step is the plain mean over its readings, which come at even
// times. A reading of an earlier step than the last is dropped, unless it is earlier by more than what is kept: then the clock
// was set back, and the series begins anew.
func (r *Recorder) Add(now time.Time, s Series, value float64) {
	if math.IsNaN(value) {
		return
	}
	step := stepOf(now)
	l, found := r.lines[s]
	switch {
	case !found:
		l = &open{Line: Line{Series: s, First: step}, step: step}
		r.lines[s] = l
	case l.step-step >= points:
		*l = open{Line: Line{Series: s, First: step}, step: step}
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

// close makes a point of the step that is over. After a gap of all that is kept nothing of before is.
func (l *open) close() {
	if l.n == 0 {
		return
	}
	mean := float32(min(max(l.sum/float64(l.n), 0), 1))
	l.sum, l.n = 0, 0
	missing := l.step - l.First - int64(len(l.Means))
	switch {
	case missing < 0:
		// The point is there from before a restart within its step.
		return
	case len(l.Means) == 0 || missing >= points:
		l.First, l.Means = l.step, append(l.Means[:0], mean)
		return
	}
	for range missing {
		l.Means = append(l.Means, none)
	}
	l.Means = append(l.Means, mean)
	if over := int64(len(l.Means)) - points; over > 0 {
		l.Means = append(l.Means[:0], l.Means[over:]...)
		l.First += over
	}
}

// Hour is what is kept at a time: the steps that are over then. What is older than an hour is forgotten for good.
func (r *Recorder) Hour(now time.Time) Hour {
	step := stepOf(now)
	lines := make([]Line, 0, len(r.lines))
	for s, l := range r.lines {
		if l.step < step {
			l.close()
		}
		if age := step - max(l.step, l.First); age > points || age < -points {
			delete(r.lines, s)
			continue
		}
		if line, some := l.since(step - points); some {
			lines = append(lines, line)
		}
	}
	r.forget()
	slices.SortFunc(lines, func(a, b Line) int { return a.Series.Compare(b.Series) })
	return Hour{Lines: lines}
}

// since is a copy of a line's points from a step on, and whether there are any.
func (l *open) since(step int64) (Line, bool) {
	old := min(max(step-l.First, 0), int64(len(l.Means)))
	return Line{Series: l.Series, First: l.First + old, Means: slices.Clone(l.Means[old:])}, old < int64(len(l.Means))
}

// forget drops the series that ended first where there are too many.
func (r *Recorder) forget() {
	if len(r.lines) <= Most {
		return
	}
	ends := make([]*open, 0, len(r.lines))
	for _, l := range r.lines {
		ends = append(ends, l)
	}
	slices.SortFunc(ends, func(a, b *open) int {
		return cmp.Or(cmp.Compare(a.step, b.step), a.Series.Compare(b.Series))
	})
	for _, l := range ends[:len(ends)-Most] {
		delete(r.lines, l.Series)
	}
}

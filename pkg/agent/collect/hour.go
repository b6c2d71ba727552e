package collect

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	// HistoryStep is the time that a point covers: forewarm queries its signals every 15 s or less often.
	HistoryStep = 15 * time.Second
	// HistoryLength is how long points are kept.
	HistoryLength = time.Hour
	// maxSeries limits how many series are kept, at 1 KiB each. A node with eight GPUs with seven instances each has 360 series, and each new
	// pod adds more. Above the limit, the series that ended first are dropped.
	maxSeries = 2048

	maxPoints = int64(HistoryLength / HistoryStep)
)

// Measure is one figure of a device or a pod.
type Measure string

// Measures of devices are shares of the device or instance. Measures of pods are shares of a physical GPU.
const (
	Busy         Measure = "busy"
	Bandwidth    Measure = "memory_bandwidth"
	Tensor       Measure = "tensor"
	PodBusy      Measure = "pod_busy"
	PodBandwidth Measure = "pod_memory_bandwidth"
	PodAllocated Measure = "pod_allocated"
)

// Measures lists all measures.
func Measures() []Measure {
	return []Measure{Busy, Bandwidth, Tensor, PodBusy, PodBandwidth, PodAllocated}
}

// Series identifies a series: a measure of a device (no pod), or of a pod's container on a device.
type Series struct {
	Measure Measure
	// UUID of the GPU, and Instance the MIG GPU instance's id; empty where there is none.
	UUID, Instance            string
	Namespace, Pod, Container string
}

// Compare orders series by their measure, then their names.
func (s Series) Compare(t Series) int {
	return cmp.Or(cmp.Compare(s.Measure, t.Measure), cmp.Compare(s.UUID, t.UUID), cmp.Compare(s.Instance, t.Instance),
		cmp.Compare(s.Namespace, t.Namespace), cmp.Compare(s.Pod, t.Pod), cmp.Compare(s.Container, t.Container))
}

// Hour is the recorded history at one time. It is immutable.
type Hour struct {
	// Lines in the order of their series.
	Lines []Line
}

// Line has a series' points, one for each step.
type Line struct {
	Series Series
	// First is the number of the first point's step: its start in units of HistoryStep since 1970.
	First int64
	// Means of the steps, 0 … 1; NaN where there was no reading.
	Means []float32
}

// End is the end of the i-th point's step, when its mean was known.
func (l Line) End(i int) time.Time { return time.Unix(0, (l.First+int64(i)+1)*int64(HistoryStep)) }

// last returns the step number of the last point.
func (l Line) last() int64 { return l.First + int64(len(l.Means)) - 1 }

func stepOf(t time.Time) int64 {
	ns := t.UnixNano()
	if ns < 0 {
		return 0
	}
	return ns / int64(HistoryStep)
}

var noReading = float32(math.NaN()) //nolint:gochecknoglobals // A constant, which Go has no NaN for.

// Recorder turns readings into points. It must be used from one goroutine.
type Recorder struct {
	lines map[Series]*openLine
}

// openLine is a line whose last step has not ended.
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

// close makes a point from the step that has ended. After a gap as long as the whole history, the series begins again.
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

// dropOldest drops the series that ended first if there are more than maxSeries.
func (r *Recorder) dropOldest() {
	if len(r.lines) <= maxSeries {
		return
	}
	ends := slices.SortedFunc(maps.Values(r.lines), func(a, b *openLine) int {
		return cmp.Or(cmp.Compare(a.step, b.step), a.Series.Compare(b.Series))
	})
	for _, l := range ends[:len(ends)-maxSeries] {
		delete(r.lines, l.Series)
	}
}

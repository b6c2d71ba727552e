package gpu

import (
	"cmp"
	"slices"
	"time"
)

// MaxSamples is how many samples a window keeps: six a second for half a minute are 180.
const MaxSamples = 1024

// Window is the last samples of a measure.
//
// A sample is the measure's mean since the previous sample, so each is weighted by the time that it covers: samples are
// unevenly spaced (a driver's buffer holds six a second on one model and one on another; counters are read once a
// step). A sample covers at most the allowed gap; the time before that is unknown and has no weight. The first sample
// covers as much as the second.
type Window struct {
	length, gap time.Duration
	// samples are in the order of time. The first may be older than the window: it starts the time that the second
	// covers.
	samples []point
}

type point struct {
	at    int64 // nanoseconds
	value float64
}

// Summary is a measure over a window, in the measure's own unit.
type Summary struct {
	// Mean over the time that is covered.
	Mean float64 `json:"mean"`
	// Max is the largest sample, which is itself a mean over its time.
	Max float64 `json:"max"`
	// P95 is the smallest value that the measure did not exceed in 95 % of the time that is covered.
	P95 float64 `json:"p95"`
	// Known is false without samples; the rest is 0 then.
	Known bool `json:"-"`
}

// IsZero leaves what is not known out of JSON.
func (s Summary) IsZero() bool { return !s.Known }

// NewWindow is an empty window of a length. No sample covers more than the gap.
func NewWindow(length, gap time.Duration) *Window {
	return &Window{length: length, gap: gap}
}

// Add adds a sample. One that is not later than the last is dropped, unless it is earlier by more than the window: then
// the clock was set back, and the window is cleared.
func (w *Window) Add(s Sample) {
	p := point{at: s.Time.UnixNano(), value: s.Ratio}
	if n := len(w.samples); n > 0 && p.at <= w.samples[n-1].at {
		if w.samples[n-1].at-p.at <= int64(w.length) {
			return
		}
		w.samples = w.samples[:0]
	}
	if len(w.samples) == MaxSamples {
		w.samples = append(w.samples[:0], w.samples[MaxSamples/2:]...)
	}
	w.samples = append(w.samples, p)
}

// Summary summarises (now − length, now].
func (w *Window) Summary(now time.Time) Summary {
	w.trim(now)
	start := now.Add(-w.length).UnixNano()
	type part struct{ value, time float64 }
	var parts []part
	var whole, area float64
	for i, s := range w.samples {
		if s.at <= start {
			continue
		}
		covered := float64(min(w.covered(i), s.at-start))
		parts = append(parts, part{s.value, covered})
		whole += covered
		area += covered * s.value
	}
	if len(parts) == 0 {
		return Summary{}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.value, b.value) })
	out := Summary{Max: parts[len(parts)-1].value, P95: parts[len(parts)-1].value, Known: true}
	// Rounding may carry a mean out of the values that it is the mean of.
	out.Mean = min(max(area/whole, parts[0].value), out.Max)
	below := 0.0
	for _, p := range parts {
		if below += p.time; below >= 0.95*whole {
			out.P95 = p.value
			break
		}
	}
	return out
}

// Empty reports whether (now − length, now] has no sample, so that its Summary is not known.
func (w *Window) Empty(now time.Time) bool {
	w.trim(now)
	n := len(w.samples)
	return n == 0 || w.samples[n-1].at <= now.Add(-w.length).UnixNano()
}

// covered is the time that a sample covers, in nanoseconds.
func (w *Window) covered(i int) int64 {
	if len(w.samples) == 1 {
		return int64(w.gap)
	}
	second := max(i, 1)
	return min(int64(w.gap), w.samples[second].at-w.samples[second-1].at)
}

// trim drops samples from before the window, but for the last of them, and samples from the future.
func (w *Window) trim(now time.Time) {
	start, end := now.Add(-w.length).UnixNano(), now.UnixNano()
	over := 0
	for over+1 < len(w.samples) && w.samples[over+1].at <= start {
		over++
	}
	w.samples = append(w.samples[:0], w.samples[over:]...)
	for n := len(w.samples); n > 0 && w.samples[n-1].at > end; n-- {
		w.samples = w.samples[:n-1]
	}
}

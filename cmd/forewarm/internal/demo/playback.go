package demo

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// pastShare is the part of a trace that lies behind now when the demo starts.
const pastShare = 0.9

const day = 24 * time.Hour

// Playback maps a trace to the clock: its first part lies in the past, the rest plays in real time, and after its end
// it repeats from the same time of day. It is a pure function of time, so that the backfilled and the scraped samples
// are one series.
type Playback struct {
	values []float64
	step   time.Duration
	start  time.Time
	// back is how many steps the playback goes back at the trace's end: whole days where it has any.
	back int
	// counted[i] is the sum of the values before i, gaps counting 0.
	counted []float64
}

// NewPlayback places the trace so that nine tenths of it end at now, to the step. It fails where the trace is too
// short, has a negative value or no value.
func NewPlayback(trace forecast.Series, now time.Time) (*Playback, error) {
	if err := checkPlayable(trace); err != nil {
		return nil, err
	}
	n := trace.Len()
	past := int(math.Round(pastShare * float64(n)))
	p := &Playback{
		values: trace.Values, step: trace.Step,
		start:   now.Truncate(trace.Step).Add(-time.Duration(past) * trace.Step),
		back:    n,
		counted: make([]float64, n+1),
	}
	if perDay := int(day / trace.Step); n >= perDay && day%trace.Step == 0 {
		p.back = n / perDay * perDay
	}
	for i, v := range trace.Values {
		p.counted[i+1] = p.counted[i]
		if !math.IsNaN(v) {
			p.counted[i+1] += v
		}
	}
	return p, nil
}

// checkPlayable reports why a trace cannot be demand.
func checkPlayable(trace forecast.Series) error {
	const least = 60
	if err := trace.Check(least); err != nil {
		return fmt.Errorf("the trace cannot be forecast: %w", err)
	}
	if i := slices.IndexFunc(trace.Values, func(v float64) bool { return v < 0 }); i >= 0 {
		return fmt.Errorf("the trace is %v at step %d: demand is never negative, correct or remove the value",
			trace.Values[i], i)
	}
	return nil
}

// Start is the time of the first value.
func (p *Playback) Start() time.Time { return p.start }

// Step is the distance between two values.
func (p *Playback) Step() time.Duration { return p.step }

// At is the value at a time, held for its step; false in a gap and before the start.
func (p *Playback) At(t time.Time) (float64, bool) {
	i, _, _ := p.position(t)
	if i < 0 || math.IsNaN(p.values[i]) {
		return 0, false
	}
	return p.values[i], true
}

// Count is the sum of the values from the start until a time, each value spread evenly over its step; false in a gap
// and before the start. It never decreases.
func (p *Playback) Count(t time.Time) (float64, bool) {
	i, part, rounds := p.position(t)
	if i < 0 || math.IsNaN(p.values[i]) {
		return 0, false
	}
	n := len(p.values)
	round := p.counted[n] - p.counted[n-p.back]
	return float64(rounds)*round + p.counted[i] + part*p.values[i], true
}

// position is the step that plays at a time, the share of it that is over, and how many times the trace has ended
// before. The step is negative before the start.
func (p *Playback) position(t time.Time) (i int, part float64, rounds int) {
	elapsed := t.Sub(p.start)
	if elapsed < 0 {
		return -1, 0, 0
	}
	i = int(elapsed / p.step)
	part = float64(elapsed%p.step) / float64(p.step)
	if over := i - len(p.values); over >= 0 {
		rounds = 1 + over/p.back
		i -= rounds * p.back
	}
	return i, part, rounds
}

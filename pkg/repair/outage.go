package repair

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/decide/trailing"
)

const (
	// nothing is the share of the mean demand below which there is next to none; steady is the share above which the
	// demand must have been at every step of the last before, for a fall to nothing to be sudden.
	nothing = 0.05
	steady  = 0.2
	before  = 15 * time.Minute
	// patience is how long a fall may stay in doubt, from the last demand that was known on. Capacity is held as long, so
	// an end of the load that is real costs as much, once: after it such falls are usual.
	patience = 10 * time.Minute
	// A fall is unusual where the demand was seen for a season and never at nothing within recall: a day on which the
	// load stops once a week, and one more.
	season = 24 * time.Hour
	recall = 8 * 24 * time.Hour
	// often falls, each counting half as much a day later, are a habit of the demand: pauses of a batch, rare requests.
	often = 3
)

// falls sees a demand that is suddenly gone. It is in doubt only while everything speaks for an outage; the night, a load
// that goes on and off, a few requests an hour have been at nothing before, and what is gradual is never in doubt.
//
// Worked: 100 requests/s for a week and then 0 are masked for ten minutes. When the 100 are back after four, nothing has
// happened; the zeros from the tenth minute on are known, and so are all those of the eight days after.
type falls struct {
	level mean
	// lowest is the least demand of the last quarter of an hour, negated.
	lowest *trailing.Max
	// patience, season and recall in steps.
	patience, season, recall int
	// age of the series; since the last known demand, and since the last that was next to nothing.
	age, known, low int
	// habit counts the falls that were masked, with a half-life of a day.
	habit, keep float64
	masking     bool
}

func newFalls(step time.Duration) falls {
	return falls{
		level:    newMean(season, step),
		lowest:   trailing.NewMax(max(3, int(before/step))),
		patience: int(patience / step), season: int(season / step), recall: int(recall / step),
		low:  math.MaxInt / 2,
		keep: math.Exp2(-float64(step) / float64(season)),
	}
}

// suspects says whether a demand is more likely an outage than what was asked of the workload.
func (f *falls) suspects(v float64) bool {
	level := f.level.value()
	return v < nothing*level && f.known < f.patience &&
		(f.masking || -f.lowest.Value() >= steady*level && f.habit < often) &&
		f.low > f.recall && f.age >= f.season
}

// mask takes a step with a demand that is in doubt.
func (f *falls) mask() {
	if !f.masking {
		f.habit++
	}
	f.pass()
	f.masking = true
}

// miss takes a step without a demand.
func (f *falls) miss() {
	if f.age > 0 { // Else it has not begun.
		f.pass()
	}
}

func (f *falls) pass() {
	f.lowest.Push(math.NaN())
	f.tick()
	f.known++
}

// accept takes a demand that is known.
func (f *falls) accept(v float64) {
	if v < nothing*f.level.value() {
		f.low = 0
	}
	f.bound(v)
}

// bound takes the least that the demand was: that it is little says nothing.
func (f *falls) bound(v float64) {
	f.level.add(v)
	f.lowest.Push(-v)
	f.tick()
	f.known, f.masking = 0, false
}

func (f *falls) tick() {
	f.age++
	f.low++
	f.habit *= f.keep
}

// mean is an exponentially weighted one without bias at its beginning.
type mean struct{ keep, sum, weight float64 }

func newMean(tau, step time.Duration) mean {
	return mean{keep: 1 - math.Min(1, float64(step)/float64(tau))}
}

func (m *mean) add(v float64) {
	m.sum = m.keep*m.sum + (1-m.keep)*v
	m.weight = m.keep*m.weight + (1 - m.keep)
}

// value is 0 before the first.
func (m *mean) value() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.sum / m.weight
}

package classify

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/trailing"
)

const (
	// nothing is the share of the mean demand below which there is next to none; steady is the share above which the
	// demand must have been at every step of a quarter of an hour for a fall to nothing to be sudden. That quarter ended
	// some minutes ago: the range of a rate makes a ramp of a fall.
	nothing = 0.02
	steady  = 0.4
	quarter = 15 * time.Minute
	ramp    = 5 * time.Minute
	// Patience is how long a fall may stay in doubt, from the last demand that was known on. Capacity is held as long, so
	// an end of the load that is real costs as much, once: after it such falls are usual.
	Patience = 10 * time.Minute
	// A fall is unusual where the demand was seen for a season and was at nothing for a share of at most idle of the time,
	// in a mean over recall: an hour and a quarter of a day, or a twentieth of a weekend.
	season = 24 * time.Hour
	recall = 7 * 24 * time.Hour
	idle   = 0.05
	// often falls, each counting half as much a day later, are a habit of the demand: pauses of a batch, rare requests.
	often = 4
)

// falls sees a demand that is suddenly gone. It is in doubt only while everything speaks for an outage: nights, a load
// that goes on and off and a few requests an hour have been at nothing before, and what is gradual is never in doubt. What
// is left to pay is the patience, for the first end of a load and for pauses that come no more than twice or three times a
// day and are short.
//
// Worked: 100 requests/s for a week and then 0 are masked for ten minutes. When the 100 are back after four, nothing has
// happened; the zeros from the tenth minute on are known.
type falls struct {
	level trailing.Mean
	// empty is the share of the time at nothing, in doubt or not.
	empty trailing.Mean
	// recent is the demand of the ramp, lowest the least of the quarter of an hour before, negated.
	recent trailing.Delay
	lowest *trailing.Max
	// patience and season in steps.
	patience, season int
	// age of the series, and of the last known demand.
	age, known int
	// habit counts sudden falls, with a half-life of a day.
	habit, keep float64
	// masking: the newest sample was in doubt; down: it was little and was not.
	masking, down bool
}

func newFalls(step time.Duration) falls {
	return falls{
		level:    trailing.NewMean(season, step),
		empty:    trailing.NewMean(recall, step),
		recent:   trailing.NewDelay(max(1, int(ramp/step))),
		lowest:   trailing.NewMax(max(3, int(quarter/step))),
		patience: int(Patience / step), season: int(season / step),
		keep: math.Exp2(-float64(step) / float64(season)),
	}
}

// doubts says whether a demand is more likely an outage than what was asked of the workload.
func (f *falls) doubts(v float64) bool {
	return f.little(v) && !f.down && f.known < f.patience && (f.masking || f.sudden() && f.habit < often) &&
		f.empty.Value() <= idle && f.age >= f.season
}

// little is next to nothing.
func (f *falls) little(v float64) bool { return v < nothing*f.level.Value() }

// sudden says that the demand was steady until some minutes ago.
func (f *falls) sudden() bool { return -f.lowest.Value() >= steady*f.level.Value() }

// mask takes a step with a demand that is in doubt.
func (f *falls) mask() {
	if !f.masking {
		f.habit++
	}
	f.empty.Add(1)
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
	f.tick(math.NaN())
	f.known++
}

// accept takes a demand that is known.
func (f *falls) accept(v float64) {
	little := f.little(v)
	if little {
		f.empty.Add(1)
	} else {
		f.empty.Add(0)
	}
	if little && f.sudden() && !f.masking && !f.down { // One that lasts beyond the patience was counted.
		f.habit++
	}
	f.bound(v)
	f.down = little
}

// bound takes the least that the demand was: that it is little says nothing.
func (f *falls) bound(v float64) {
	f.level.Add(v)
	f.tick(v)
	f.known, f.masking, f.down = 0, false, false
}

func (f *falls) tick(v float64) {
	f.lowest.Push(-f.recent.Push(v))
	f.age++
	f.habit *= f.keep
}

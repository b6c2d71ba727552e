package classify

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/trailing"
)

const (
	// A demand below nearZeroShare of its mean is near zero. A drop to it is sudden if the demand was above steadyShare
	// of the mean at every step of steadyTime. That time ended some minutes ago (ramp): the range of a rate turns a
	// drop into a ramp.
	nearZeroShare = 0.02
	steadyShare   = 0.4
	steadyTime    = 15 * time.Minute
	ramp          = 5 * time.Minute
	// MaxOutage is how long an outage may be masked, from the last known demand on. Capacity is held as long. A real
	// end of the load costs the same, once: after it such drops are usual.
	MaxOutage = 10 * time.Minute
	// A drop is unusual if the demand is at least a season old and was near zero for at most maxZeroShare of the time,
	// in a mean over zeroShareTime: an hour and a quarter per day, or a twentieth of a weekend.
	season        = 24 * time.Hour
	zeroShareTime = 7 * 24 * time.Hour
	maxZeroShare  = 0.05
	// habitualDrops drops, each counting half as much a day later, are a habit of the demand: pauses of a batch, rare
	// requests.
	habitualDrops = 4
)

// outageDetector detects a demand that is suddenly gone. It masks the demand only where everything indicates an outage:
// nights, a load that goes on and off, and a few requests per hour have been near zero before, and a gradual fall is
// never masked. What remains is a delay of MaxOutage for the first end of a load, and for short pauses at most two or
// three times a day.
//
// Worked: 100 requests/s for a week and then 0 are masked for ten minutes. If the 100 are back after four minutes,
// nothing has happened; from the tenth minute on the zeros are known.
type outageDetector struct {
	level trailing.Mean
	// zeroShare is the share of the time near zero, masked or not.
	zeroShare trailing.Mean
	// recent is the demand of the ramp; lowest is the negated minimum of steadyTime before it.
	recent trailing.Delay
	lowest *trailing.Max
	// MaxOutage and season in steps.
	maxOutage, season int
	// age is the number of steps of the series, sinceKnown those since the last known demand.
	age, sinceKnown int
	// drops counts sudden drops, with a half-life of a day.
	drops, keep float64
	// masking: the newest sample was masked. lasting: it was near zero and known.
	masking, lasting bool
}

func newOutageDetector(step time.Duration) outageDetector {
	return outageDetector{
		level:     trailing.NewMean(season, step),
		zeroShare: trailing.NewMean(zeroShareTime, step),
		recent:    trailing.NewDelay(max(1, int(ramp/step))),
		lowest:    trailing.NewMax(max(3, int(steadyTime/step))),
		maxOutage: int(MaxOutage / step), season: int(season / step),
		keep: math.Exp2(-float64(step) / float64(season)),
	}
}

// isOutage reports whether a demand is more likely an outage than real.
func (f *outageDetector) isOutage(v float64) bool {
	return f.nearZero(v) && !f.lasting && f.sinceKnown < f.maxOutage &&
		(f.masking || f.sudden() && f.drops < habitualDrops) &&
		f.zeroShare.Value() <= maxZeroShare &&
		f.age >= f.season
}

// nearZero reports whether a demand is near zero.
func (f *outageDetector) nearZero(v float64) bool { return v < nearZeroShare*f.level.Value() }

// sudden reports whether the demand was steady until some minutes ago.
func (f *outageDetector) sudden() bool { return -f.lowest.Value() >= steadyShare*f.level.Value() }

// addMasked adds a step whose demand is masked.
func (f *outageDetector) addMasked() {
	if !f.masking {
		f.drops++
	}
	f.zeroShare.Add(1)
	f.addUnknown()
	f.masking = true
}

// addGap adds a step without a demand.
func (f *outageDetector) addGap() {
	if f.age > 0 { // Otherwise the series has not started.
		f.addUnknown()
	}
}

func (f *outageDetector) addUnknown() {
	f.tick(math.NaN())
	f.sinceKnown++
}

// addKnown adds a known demand.
func (f *outageDetector) addKnown(v float64) {
	little := f.nearZero(v)
	if little {
		f.zeroShare.Add(1)
	} else {
		f.zeroShare.Add(0)
	}
	if little && f.sudden() && !f.masking && !f.lasting { // A drop longer than MaxOutage was counted.
		f.drops++
	}
	f.addCensored(v)
	f.lasting = little
}

// addCensored adds a lower bound of the demand: that it is near zero means nothing.
func (f *outageDetector) addCensored(v float64) {
	f.level.Add(v)
	f.tick(v)
	f.sinceKnown, f.masking, f.lasting = 0, false, false
}

func (f *outageDetector) tick(v float64) {
	f.lowest.Push(-f.recent.Push(v))
	f.age++
	f.drops *= f.keep
}

package demand

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// nearZeroShare: a demand below this share of its mean is near zero. A drop to it is sudden if the demand was above steadyShare
	// of the mean at every step of steadyTime. That time ended some minutes ago (ramp): the range of a rate turns a
	// drop into a ramp.
	nearZeroShare = 0.02
	steadyShare   = 0.4
	steadyTime    = 15 * time.Minute
	ramp          = 5 * time.Minute
	// OutageHold is how long the demand before an outage counts in full, from the last known demand on. Then half as much
	// counts every OutageHalfLife, until that is near zero and the outage is believed to be the demand. Real outages and real
	// ends of a load look alike: this is the time that people have to see which it is. A real end costs the capacity of an
	// hour and a half, once: after it such drops are usual.
	OutageHold     = 10 * time.Minute
	OutageHalfLife = time.Hour
	// season: a drop is unusual if the demand is at least a season old and was near zero for at most maxZeroShare of the time,
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
// never masked. What remains is a slow end of the first load, and of short pauses at most two or three times a day.
//
// Worked: 100 requests/s for a week and then 0 are masked for 5 h 48 min. If the 100 are back before that, nothing has
// happened. Until the tenth minute 100 count, after an hour and ten minutes 50, and then less than 2: the zeros are known.
type outageDetector struct {
	level series.TrailingMean
	// zeroShare is the share of the time near zero, masked or not.
	zeroShare series.TrailingMean
	// recent is the demand of the ramp; lowest is the negated minimum of steadyTime before it.
	recent series.Delay
	lowest *series.TrailingMax
	// hold and season in steps; fading is the share of a masked demand that is left by one more step.
	hold, season int
	fading       float64
	// age is the number of steps of the series, sinceKnown those since the last known demand.
	age, sinceKnown int
	// drops counts sudden drops, with a half-life of a day.
	drops, keep float64
	// masking: the newest sample was masked. lasting: it was near zero and known.
	masking, lasting bool
}

func newOutageDetector(step time.Duration) outageDetector {
	return outageDetector{
		level:     series.NewTrailingMean(season, step),
		zeroShare: series.NewTrailingMean(zeroShareTime, step),
		recent:    series.NewDelay(max(1, int(ramp/step))),
		lowest:    series.NewTrailingMax(max(3, int(steadyTime/step))),
		hold:      int(OutageHold / step),
		season:    int(season / step),
		fading:    math.Exp2(-float64(step) / float64(OutageHalfLife)),
		keep:      math.Exp2(-float64(step) / float64(season)),
	}
}

// isOutage reports whether a demand is more likely an outage than real.
func (f *outageDetector) isOutage(v float64) bool {
	return f.nearZero(v) && !f.lasting && f.left() >= nearZeroShare &&
		(f.masking || f.sudden() && f.drops < habitualDrops && f.zeroShare.Value() <= maxZeroShare && f.age >= f.season)
}

// left is the share of the demand before an outage that counts at the next step.
func (f *outageDetector) left() float64 {
	return math.Pow(f.fading, float64(max(0, f.sinceKnown+1-f.hold)))
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
	if little && f.sudden() && !f.masking && !f.lasting { // The drop of an outage was counted.
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

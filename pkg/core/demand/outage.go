package demand

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

const (
	// nearZeroShare is the share of its mean below which a demand is near zero. A drop to near zero is sudden if the demand was at least
	// steadyShare of the mean at every step of a time as long as steadyTime. That time ended a few minutes ago (ramp), because the range of
	// a rate turns a drop into a ramp.
	nearZeroShare = 0.02
	steadyShare   = 0.4
	steadyTime    = 15 * time.Minute
	ramp          = 5 * time.Minute
	// OutageHold is how long the demand before an outage counts in full, from the last known demand on. After that, it halves every
	// OutageHalfLife until it is near zero. Then the low demand is believed to be real. An outage and a real end of the load look the same,
	// so people get this time to find out which one it is. A real end costs the capacity of an hour and a half. This happens only once,
	// because after it such drops are usual.
	OutageHold     = 10 * time.Minute
	OutageHalfLife = time.Hour
	// season is the minimum age of a demand whose drops can be unusual. The demand must also have been near zero for at most maxZeroShare
	// of the time, as a mean over zeroShareTime. That is an hour and a quarter per day.
	season        = 24 * time.Hour
	zeroShareTime = 7 * 24 * time.Hour
	maxZeroShare  = 0.05
	// habitualDrops is the number of earlier drops that makes a drop usual for the demand, for example with pauses of a batch job or with
	// rare requests. Each drop counts half as much a day later.
	habitualDrops = 4
)

// outageDetector detects a demand that is suddenly gone. It masks the demand only if everything indicates an outage. It does not mask
// nights, a load that goes on and off, or a few requests per hour, because such a demand was near zero before. It never masks a gradual
// fall. What remains are the first real end of a load, which is followed slowly, and short pauses, at most two or three times a day.
//
// Example: after a week of 100 requests/s, zeros are masked for 5 h 48 min. If the demand returns to 100 before that, nothing has been
// learned. In the first ten minutes, the demand counts as 100, and after an hour and ten minutes as 50. Once it counts as less than 2, the
// zeros are known demand.
type outageDetector struct {
	level series.TrailingMean
	// zeroShare is the share of the time in which the demand was near zero, masked or not.
	zeroShare series.TrailingMean
	// recent is the demand during the ramp. lowest is the negated minimum during steadyTime before the ramp.
	recent series.Delay
	lowest *series.TrailingMax
	// hold and season are OutageHold and season in steps. fading is the share of a masked demand that is left after one more step.
	hold, season int
	fading       float64
	// age is the number of steps of the series. sinceKnown is the number of steps since the last known demand.
	age, sinceKnown int
	// drops counts sudden drops, with a half-life of a day. keep is the share that is left after one more step.
	drops, keep float64
	// masking is true if the newest sample was masked. lasting is true if it was known and near zero.
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

// isOutage reports whether a demand is more likely an outage than the real demand.
func (f *outageDetector) isOutage(v float64) bool {
	return f.nearZero(v) && !f.lasting && f.left() >= nearZeroShare &&
		(f.masking || f.sudden() && f.drops < habitualDrops && f.zeroShare.Value() <= maxZeroShare && f.age >= f.season)
}

// left returns the share of the demand before an outage that still counts at the next step.
func (f *outageDetector) left() float64 {
	return math.Pow(f.fading, float64(max(0, f.sinceKnown+1-f.hold)))
}

// nearZero reports whether a demand is near zero.
func (f *outageDetector) nearZero(v float64) bool { return v < nearZeroShare*f.level.Value() }

// sudden reports whether the demand was steady until a few minutes ago.
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
	if little && f.sudden() && !f.masking && !f.lasting { // The drop of an outage has been counted.
		f.drops++
	}
	f.addCensored(v)
	f.lasting = little
}

// addCensored adds a lower bound of the demand. If the lower bound is near zero, this says nothing about the demand.
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

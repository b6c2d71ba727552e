package forecaster

import (
	"math"

	"github.com/forewarm/forewarm/pkg/repair"
)

// censored knows how long ago the demand was a lower bound, and so which window's maximum is one: any with a bound in it,
// since the demand that was hidden may have been higher than all that was seen.
//
// What is a lower bound is observed and served as it is. It is evidence only where it is above what was forecast: then the
// demand was, too, by at least as much. Where it is below, it says nothing, and a model, a score and a regression leave it
// out. That is the censored quantile regression of Powell (1986), whose loss does not depend on a forecast above the
// censored value. Where saturation hides the truth about high forecasts only, the rest of the evidence weighs more:
// coverage is told too low and quantiles are too high, which errs on the side of capacity.
type censored struct {
	// since is how many samples ago the newest bound was; average is over how many samples the demand is a mean.
	since, average int
}

func newCensored(c Config) censored {
	return censored{since: math.MaxInt32, average: c.average()}
}

func (c *censored) see(sample repair.Sample) {
	c.since = min(c.since+1, math.MaxInt32)
	if sample.Kind() == repair.LowerBound {
		c.since = 0
	}
}

// within says whether there is a bound in the demand of the newest steps.
func (c *censored) within(steps int) bool { return c.since < steps+c.average-1 }

// lastSeason is the newest of the values, a lower bound, for a model to be fitted to: what the same time of the season
// before was, where that was more.
func lastSeason(values []float64, season int) float64 {
	newest := len(values) - 1
	if season > 0 && newest >= season && values[newest-season] > values[newest] {
		return values[newest-season]
	}
	return values[newest]
}

// evidence is what the model is told of a demand: nothing of a lower bound that is below what it has forecast.
func (m *member) evidence(now float64, bound bool) float64 {
	if bound && now < m.views[0].maximum {
		return math.NaN()
	}
	return now
}

package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// Config configures the candidates of one series.
type Config struct {
	// Step of the series, more than 0.
	Step time.Duration
	// Window is the lead window, at least one step.
	Window time.Duration
	// Seasons are the demand's cycles, ascending; none means a day. Candidates are scored over a whole cycle of the first one.
	Seasons []time.Duration
	// Models are the candidates in addition to the baselines and the regression, by canonical name; nil means all.
	Models []string
	// RegressionInputs are the candidates whose forecasts the regression reads; nil means the DefaultRegressionInputs.
	RegressionInputs []string
	// Prior of the regression.
	Prior Prior
	// Level is the quantile whose pinball loss is the score of the candidates; 0 means .95.
	Level float64
	// Tolerance is the relative rise that an autoscaler ignores. The regression's spread is at least half of this share of the median.
	Tolerance float64
	// Windows to calibrate in addition to the lead window, in steps.
	Windows []int
	// SkipQuiet is the SkipQuiet of BlockModelConfig.
	SkipQuiet bool
}

// Day is the default season; week is another season that many workloads have.
const (
	Day  = 24 * time.Hour
	week = 7 * Day
)

// RegressionColumns are the names of the features that the regression reads.
func (c Config) RegressionColumns() []string { return newFeatures(c).names() }

// seasons returns the Seasons, or the default.
func (c Config) seasons() []time.Duration {
	if len(c.Seasons) == 0 {
		return []time.Duration{Day}
	}
	return c.Seasons
}

// Season returns the shortest cycle of the demand: the first of the Seasons, or a Day.
func (c Config) Season() time.Duration { return c.seasons()[0] }

// regressionInputs returns the RegressionInputs, or the default.
func (c Config) regressionInputs() []string {
	if c.RegressionInputs == nil {
		return DefaultRegressionInputs()
	}
	return c.RegressionInputs
}

// DefaultRegressionInputs returns the candidates that the regression reads by default. With them, one objective for all recorded workloads
// costs less.
func DefaultRegressionInputs() []string { return []string{ARIMA} }

// steps returns d in steps, rounded up, at least one.
func (c Config) steps(d time.Duration) int { return max(1, int((d+c.Step-1)/c.Step)) }

// The lower bounds of features, as shares of a level. A ratio to a smaller value would be meaningless.
const (
	minNow    = 0.05
	minHour   = 0.1
	minSpread = 0.1
	// riseMost and fallMost bound the ratio of the demand that a season may forecast to the present demand.
	riseMost, fallMost = 2.5, 0.8
	// spreadPrior is the weight of the prior toward which the spread is shrunk.
	spreadPrior = 0.02
	// maxUnprecedented limits how much of an unprecedented demand is remembered, so that a load test is not expected again tomorrow. A
	// demand is limited to this multiple of the usual demand (demand.Bound.Usual). A peak is limited to this multiple of the peak a season
	// before, until it occurs again.
	maxUnprecedented = 1.5
)

// features are the inputs of the regression: summaries of the demand up to a step.
type features struct {
	config Config
	window int // steps

	// usual is demand.Bound.Usual. It limits what is expected of an unprecedented burst once the burst is over. 0 means no limit.
	usual float64

	now            float64 // the newest known demand; NaN before the first one
	level, hour    series.TrailingMean
	spread         series.TrailingMean
	slow           float64 // smoothed over ten minutes
	keepSlow       float64
	quarter, sixty *series.TrailingMax
	// missed is the mean demand over missOver, the time over which errors are averaged.
	missed          series.TrailingMean
	day             *coarseMax
	jumps           *series.TrailingMax
	recent          series.Ring[float64] // demand
	fiveAgo, oneAgo int                  // pushes back
	profile         *profile
	perSlot         int // steps in a slot of the profile
	lastSeason      lastSeason
	coming          *series.TrailingMax // the maximum of the newest window
	actualPeak      float64             // the maximum of the newest window; NaN if unknown
	sinceGap        int
	sinceCensored   int
	// row has the features of this step. It is valid until the next step. All features are finite, and 0 before the first demand.
	row    []float64
	models []float64
}

// newFeatures returns features before the first step.
func newFeatures(c Config) *features {
	window := c.steps(c.Window)
	season := c.steps(c.Season())
	f := &features{
		config:        c,
		window:        window,
		now:           math.NaN(),
		level:         series.NewTrailingMean(Day, c.Step),
		hour:          series.NewTrailingMean(time.Hour, c.Step),
		spread:        series.NewTrailingMean(2*time.Hour, c.Step),
		slow:          math.NaN(),
		keepSlow:      math.Exp(-c.Step.Seconds() / 600),
		missed:        series.NewTrailingMean(missOver, c.Step),
		quarter:       series.NewTrailingMax(c.steps(15 * time.Minute)),
		sixty:         series.NewTrailingMax(c.steps(time.Hour)),
		day:           newCoarseMax(c.steps(Day)),
		jumps:         series.NewTrailingMax(c.steps(time.Hour)),
		recent:        series.NewRing[float64](max(window, c.steps(5*time.Minute)) + 1),
		fiveAgo:       c.steps(5 * time.Minute),
		oneAgo:        c.steps(time.Minute),
		lastSeason:    newLastSeason(season),
		coming:        series.NewTrailingMax(window),
		actualPeak:    math.NaN(),
		sinceCensored: math.MaxInt32,
		row:           make([]float64, len(baseFeatureNames())+len(c.regressionInputs())),
		models:        make([]float64, len(c.regressionInputs())),
	}
	f.profile, f.perSlot = newSeasonProfile(season)
	return f
}

// baseFeatureNames returns the names of the features other than the RegressionInputs, in order.
func baseFeatureNames() []string {
	return []string{
		"geometric", "now", "10m", "max15m", "max1h", "max1d", "volatility", "1h", "slope", "jump", "profile",
		"last season", "last season's rise",
	}
}

// names returns the names of all features, in order.
func (f *features) names() []string {
	return append(baseFeatureNames(), f.config.regressionInputs()...)
}

// observe records the demand of a step, NaN for a gap, and the forecasts of the RegressionInputs, in order and NaN for no forecast. In a
// gap, the features stay as they were.
func (f *features) observe(demand float64, models []float64) {
	f.sinceCensored = min(f.sinceCensored+1, math.MaxInt32)
	f.push(demand, models)
}

// observeCensored records a lower bound of the demand of a step. The actual peak of a window that contains this step is not exact, and does
// not replace a higher peak of the last season.
func (f *features) observeCensored(atLeast float64, models []float64) {
	f.sinceCensored = 0
	f.push(atLeast, models)
}

func (f *features) push(demand float64, models []float64) {
	f.coming.Push(demand)
	f.sinceGap++
	if math.IsNaN(demand) || math.IsInf(demand, 0) {
		demand, f.sinceGap = math.NaN(), 0
	}
	f.season(demand)
	f.learn()
	if math.IsNaN(demand) && math.IsNaN(f.now) {
		return // No demand yet.
	}
	f.remember(demand)
	copy(f.models, models)
	f.fill()
}

// season records the demand in the seasonal profile. It ignores a lower bound that is below the profile.
func (f *features) season(demand float64) {
	if f.sinceCensored == 0 {
		if usual, _ := f.profile.ahead(0); demand < usual {
			demand = math.NaN()
		}
	}
	f.profile.learn(f.remembered(demand))
}

// fall returns the maximum of the newest window as a share of the mean demand in the time over which errors are averaged, at most 1.
func (f *features) fall() float64 {
	if newest, before := f.coming.Value(), f.missed.Value(); newest < before {
		return newest / before
	}
	return 1
}

// remembered returns how much of a demand is remembered.
func (f *features) remembered(demand float64) float64 { return remembered(demand, f.usual) }

// remembered returns a demand, limited to maxUnprecedented times the usual demand.
func remembered(demand, usual float64) float64 {
	if most := maxUnprecedented * usual; most > 0 && demand > most {
		return most
	}
	return demand
}

// remember records the demand in the other summaries.
func (f *features) remember(demand float64) {
	if math.IsNaN(demand) {
		f.recent.Push(f.now)
	} else {
		f.now = demand
		f.recent.Push(demand)
		f.level.Add(demand)
		f.hour.Add(demand)
		f.missed.Add(demand)
		f.slow = smooth(f.slow, demand, f.keepSlow)
	}
	kept := f.remembered(demand)
	f.quarter.Push(kept)
	f.sixty.Push(kept)
	f.day.push(kept)
	f.jumps.Push(f.remembered(math.Abs(f.now - f.recent.Ago(f.oneAgo))))
}

func smooth(mean, v, keep float64) float64 {
	if math.IsNaN(mean) {
		return v
	}
	return keep*mean + (1-keep)*v
}

// learn records the actual peak of the window that ends now, if it has no gap.
func (f *features) learn() {
	before := f.recent.Ago(f.window - 1) // The demand before the window, because recent lacks this step so far.
	f.actualPeak = math.NaN()
	if f.sinceGap >= f.window && f.recent.Has(f.window-1) {
		f.actualPeak = f.coming.Value()
		f.spread.Add(f.remembered(math.Abs(f.actualPeak - before)))
	}
	peak := f.remembered(f.actualPeak)
	f.lastSeason.learn(f.window, peak, peak/math.Max(before, minNow*f.level.Value()), f.exact())
}

// exact reports whether the actual peak is exact. Otherwise, it is a lower bound.
func (f *features) exact() bool { return f.sinceCensored >= f.window }

// known returns the newest known demand; 0 before the first one.
func (f *features) known() float64 {
	if math.IsNaN(f.now) {
		return 0
	}
	return f.now
}

func (f *features) fill() {
	clear(f.row)
	if math.IsNaN(f.now) {
		return
	}
	o, level, hour := f.now, f.level.Value(), f.hour.Value()
	volatility := f.spread.Shrunk(minSpread*level, spreadPrior)
	rise := min(max(f.rise(), 1), riseMost)
	lastRatio, lastPeak := f.lastSeason.ratioAndPeak()
	copy(f.row, []float64{
		math.Sqrt(math.Max(o, minNow*level) * math.Max(hour, minHour*level)),
		o,
		f.slow,
		series.MaxKnown(f.quarter.Value(), o),
		series.MaxKnown(f.sixty.Value(), o),
		series.MaxKnown(f.day.value(), o),
		volatility,
		hour,
		math.Max(o-f.recent.Ago(f.fiveAgo), 0),
		f.jumps.Value(),
		o * (rise - 1),
		o * (lastRatio - 1),
		math.Max(lastPeak-o, 0),
	})
	for i, m := range f.models {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			m = o // The last value replaces a missing forecast.
		}
		f.row[len(f.row)-len(f.models)+i] = m
	}
}

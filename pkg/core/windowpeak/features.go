package windowpeak

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// Config says what is forecast of which series.
type Config struct {
	// Step of the series, more than 0.
	Step time.Duration
	// Window is the time ahead whose maximum is forecast, at least one step.
	Window time.Duration
	// Seasons in which the demand comes again, ascending; none means a day. The first is also the time over which candidates
	// are judged, so that all of the cycle is in it.
	Seasons []time.Duration
	// Models are the candidates that take part beside the baselines and the regression, by canonical name; nil means all.
	Models []string
	// Reads names the candidates whose forecasts the regression reads; nil means those of Read.
	Reads []string
	// Without names features that the regression is left without, to learn what they are worth.
	Without []string
	// Prior of the regression.
	Prior Prior
	// Level is the quantile at which candidates are judged, by pinball loss; 0 means .95.
	Level float64
	// Tolerance is the share of a rise that an autoscaler does not see: the regression's spread is at least half of it.
	Tolerance float64
	// Extra is a candidate beside those that there are, fitted to the steps themselves; nil for none.
	Extra forecast.Model
	// Windows are calibrated beside the lead window, in steps.
	Windows []int
}

// Day is the default season.
const Day = 24 * time.Hour

// seasons are the Seasons with their default.
func (c Config) seasons() []time.Duration {
	if len(c.Seasons) == 0 {
		return []time.Duration{Day}
	}
	return c.Seasons
}

// season is the first.
func (c Config) season() time.Duration { return c.seasons()[0] }

// reads are the Reads with their default.
func (c Config) reads() []string {
	if c.Reads == nil {
		return Read()
	}
	return c.Reads
}

// Read names the candidates that the regression reads by default: on recorded demand one objective for all workloads costs
// less with them than without.
func Read() []string { return []string{ARIMA} }

// WindowSteps is the window in steps, a part of one counted as one.
func (c Config) WindowSteps() int { return c.steps(c.Window) }

// steps is d in steps, rounded up, at least one.
func (c Config) steps(d time.Duration) int { return max(1, int((d+c.Step-1)/c.Step)) }

// The bounds of features, as shares of a level: below them a ratio would say nothing.
const (
	leastNow    = 0.05
	leastHour   = 0.1
	leastSpread = 0.1
	// riseMost and fallMost bound what a season may multiply the demand by.
	riseMost, fallMost = 2.5, 0.8
	// spreadPrior is how much the floor of the spread counts beside what was seen.
	spreadPrior = 0.02
)

// Features are what is known of a demand at a step.
type Features struct {
	config Config
	window int // steps

	now             float64 // the newest demand that was no gap, NaN before the first
	level, hour     trailing.Mean
	spread          trailing.Mean
	slow            float64 // smoothed over ten minutes
	keepSlow        float64
	quarter, sixty  *trailing.Max
	day             *trailing.Coarse
	jumps           *trailing.Max
	recent          trailing.Ring[float64] // demand
	fiveAgo, oneAgo int                    // pushes back
	profile         *trailing.Profile
	perSlot         int // steps in a slot of the profile
	yesterday       yesterday
	coming          *trailing.Max // the maximum of the newest window
	came            float64       // that maximum, NaN where it is not known
	sinceGap        int
	sinceBound      int
	all             []float64 // every feature
	kept            []int     // those that are not left out
	row             []float64
	models          []float64
}

// NewFeatures knows nothing yet.
func NewFeatures(c Config) *Features {
	window := c.steps(c.Window)
	season := c.steps(c.season())
	f := &Features{
		config:     c,
		window:     window,
		now:        math.NaN(),
		level:      trailing.NewMean(Day, c.Step),
		hour:       trailing.NewMean(time.Hour, c.Step),
		spread:     trailing.NewMean(2*time.Hour, c.Step),
		slow:       math.NaN(),
		keepSlow:   math.Exp(-c.Step.Seconds() / 600),
		quarter:    trailing.NewMax(c.steps(15 * time.Minute)),
		sixty:      trailing.NewMax(c.steps(time.Hour)),
		day:        trailing.NewCoarse(c.steps(Day)),
		jumps:      trailing.NewMax(c.steps(time.Hour)),
		recent:     trailing.NewRing[float64](max(window, c.steps(5*time.Minute)) + 1),
		fiveAgo:    c.steps(5 * time.Minute),
		oneAgo:     c.steps(time.Minute),
		yesterday:  newYesterday(season),
		coming:     trailing.NewMax(window),
		came:       math.NaN(),
		sinceBound: math.MaxInt32,
		all:        make([]float64, len(Columns())+len(c.reads())),
		models:     make([]float64, len(c.reads())),
	}
	f.profile, f.perSlot = newProfile(season)
	for i, name := range f.everything() {
		if !slices.Contains(c.Without, name) {
			f.kept = append(f.kept, i)
		}
	}
	f.row = make([]float64, len(f.kept))
	return f
}

// Columns are the features apart from those of models, in their order.
func Columns() []string {
	return []string{
		"geometric",
		"now",
		"10m",
		"max15m",
		"max1h",
		"max1d",
		"moves",
		"1h",
		"slope",
		"jump",
		"profile",
		"yesterday",
		"yesterday's rise",
	}
}

// everything is the names of all features, those left out too.
func (f *Features) everything() []string { return append(Columns(), f.config.reads()...) }

// Names of the features, in their order.
func (f *Features) Names() []string {
	var out []string
	for _, i := range f.kept {
		out = append(out, f.everything()[i])
	}
	return out
}

// Push takes the demand of a step, NaN for a gap, and the models' maxima of the window ahead, in the order of their names
// (NaN where a model has none). The features of a gap are those before it.
func (f *Features) Push(demand float64, models []float64) {
	f.sinceBound = min(f.sinceBound+1, math.MaxInt32)
	f.push(demand, models)
}

// PushBound takes the least that the demand of a step was: it is what there is to go by, but no exact maximum came over a
// window with it, and a season that was higher is not forgotten for it.
func (f *Features) PushBound(atLeast float64, models []float64) {
	f.sinceBound = 0
	f.push(atLeast, models)
}

func (f *Features) push(demand float64, models []float64) {
	f.coming.Push(demand)
	f.sinceGap++
	if math.IsNaN(demand) || math.IsInf(demand, 0) {
		demand, f.sinceGap = math.NaN(), 0
	}
	f.season(demand)
	f.learn()
	if math.IsNaN(demand) && math.IsNaN(f.now) {
		return // It has not begun.
	}
	f.remember(demand)
	copy(f.models, models)
	f.fill()
}

// season takes the demand into the course of a day, unless it is a bound below what that holds.
func (f *Features) season(demand float64) {
	if f.sinceBound == 0 {
		if usual, _ := f.profile.Ahead(0); demand < usual {
			demand = math.NaN()
		}
	}
	f.profile.Learn(demand)
}

// remember takes the demand into every summary.
func (f *Features) remember(demand float64) {
	if math.IsNaN(demand) {
		f.recent.Push(f.now)
	} else {
		f.now = demand
		f.recent.Push(demand)
		f.level.Add(demand)
		f.hour.Add(demand)
		f.slow = smooth(f.slow, demand, f.keepSlow)
	}
	f.quarter.Push(demand)
	f.sixty.Push(demand)
	f.day.Push(demand)
	f.jumps.Push(math.Abs(f.now - f.recent.Ago(f.oneAgo)))
}

func smooth(mean, v, keep float64) float64 {
	if math.IsNaN(mean) {
		return v
	}
	return keep*mean + (1-keep)*v
}

// learn takes the maximum over the window that ends now, where it is known: no gap and not the beginning lie in it.
func (f *Features) learn() {
	before := f.recent.Ago(f.window - 1) // The demand before the window: this step's is not among the recent yet.
	f.came = math.NaN()
	if f.sinceGap >= f.window && f.recent.Knows(f.window-1) {
		f.came = f.coming.Value()
		f.spread.Add(math.Abs(f.came - before))
	}
	f.yesterday.learn(f.window, f.came, f.came/math.Max(before, leastNow*f.level.Value()), f.Exact())
}

// Came is the maximum over the window that ends with the newest step; NaN where it is not known.
func (f *Features) Came() float64 { return f.came }

// Exact says that it was that, and not more: the demand was known throughout.
func (f *Features) Exact() bool { return f.sinceBound >= f.window }

// Level is the mean over about a day.
func (f *Features) Level() float64 { return f.level.Value() }

// Now is the newest demand that was no gap, NaN before the first.
func (f *Features) Now() float64 { return f.now }

// LastSeason is the maximum that came over the same window a season ago; NaN where that is not known.
func (f *Features) LastSeason() float64 { return f.yesterday.maximum() }

// known is Now, and 0 before the first.
func (f *Features) known() float64 {
	if math.IsNaN(f.now) {
		return 0
	}
	return f.now
}

// Row is the features of this step; it is good until the next Push. All are finite; without any demand all are 0.
func (f *Features) Row() []float64 { return f.row }

func (f *Features) fill() {
	clear(f.row)
	if math.IsNaN(f.now) {
		return
	}
	o, level, hour := f.now, f.level.Value(), f.hour.Value()
	moves := f.spread.Shrunk(leastSpread*level, spreadPrior)
	rise := min(max(f.rise(), 1), riseMost)
	again, top := f.yesterday.at()
	copy(f.all, []float64{
		math.Sqrt(math.Max(o, leastNow*level) * math.Max(hour, leastHour*level)),
		o,
		f.slow,
		trailing.Most(f.quarter.Value(), o),
		trailing.Most(f.sixty.Value(), o),
		trailing.Most(f.day.Value(), o),
		moves,
		hour,
		math.Max(o-f.recent.Ago(f.fiveAgo), 0),
		f.jumps.Value(),
		o * (rise - 1),
		o * (again - 1),
		math.Max(top-o, 0),
	})
	for i, m := range f.models {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			m = o // As the last value forecasts.
		}
		f.all[len(f.all)-len(f.models)+i] = m
	}
	for i, at := range f.kept {
		f.row[i] = f.all[at]
	}
}

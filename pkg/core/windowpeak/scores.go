package windowpeak

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast/interval"
	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// The constants of calibration.
const (
	// scoreCount is the number of scores of the lead window that are kept: one every four minutes if the season is a day. The other windows
	// are scored only every otherEvery-th time.
	scoreCount = 360
	otherEvery = 3
	// minScores is the number of scores that a calibrated quantile needs.
	minScores = 40
	// adaptRate is how far each score moves the adaptive level. Gibbs & Candès (2021) recommend about 0.005 for independent scores.
	adaptRate = 0.02
	// maxScore bounds one score. A window that began before a launch or a jump of the demand measures the jump, and not how accurate
	// forecasts of the new demand are.
	maxScore = 30
)

// scores are the errors of a candidate's forecasts, each in the candidate's unit at the time of the forecast (conformal scores).
type scores struct {
	level   float64
	windows []int // in steps, ascending
	own     int   // index of the lead window
	views   []windowScores
	units   series.Ring[float64] // the units at the starts of the open windows
	// adaptive keeps the coverage at the served level. issuedQuantiles are the quantiles that were forecast for the open lead windows.
	adaptive        interval.Adaptive
	issuedQuantiles series.Ring[float64]
	// loss is the pinball loss at the served level, as a share of the mean demand. coverage is the share of the peaks that were at most the
	// quantile at this level.
	loss, coverage series.FadingMean
}

// windowScores are the scores for one window length, with the medians that were forecast for the open windows.
type windowScores struct {
	issued series.Ring[float64]
	scores *interval.Scores
}

func newScores(c Config, windows []int, own int) scores {
	longest := windows[len(windows)-1]
	s := scores{
		level: c.Level, windows: windows, own: own, views: make([]windowScores, len(windows)),
		units: series.NewRing[float64](longest + 1), issuedQuantiles: series.NewRing[float64](windows[own] + 1),
		adaptive: interval.NewAdaptive(c.Level, adaptRate),
		// A half-life of one season covers a whole cycle and is short enough to demote a model that no longer fits.
		loss: series.NewFadingMean(c.Season()), coverage: series.NewFadingMean(c.Season()),
	}
	for i, w := range windows {
		kept := scoreCount / otherEvery
		if i == own {
			kept = scoreCount
		}
		s.views[i] = windowScores{issued: series.NewRing[float64](w + 1), scores: interval.NewScores(kept)}
	}
	return s
}

// actualPeaks are the actual peaks of the windows that end at a step.
type actualPeaks struct {
	// maxima are the maxima over each of the windows; NaN if unknown. exact is false for a lower bound.
	maxima []float64
	exact  []bool
	// level is the mean demand. weight is the time that the scores of this step represent.
	level  float64
	weight time.Duration
}

// score scores the windows that end at this step. A lower bound is scored only if it is above the forecast.
func (s *scores) score(now *actualPeaks) {
	for i := range s.views {
		v, w := &s.views[i], s.windows[i]
		if !v.issued.Has(w - 1) {
			continue
		}
		z := inUnits(now.maxima[i]-v.issued.Ago(w-1), s.units.Ago(w-1))
		if math.IsNaN(z) || !now.exact[i] && z <= v.scores.Quantile(s.level) {
			continue
		}
		v.scores.Add(min(max(z, -maxScore), maxScore))
	}
	w := s.windows[s.own]
	if !s.issuedQuantiles.Has(w - 1) {
		return
	}
	peak, bound := now.maxima[s.own], s.issuedQuantiles.Ago(w-1)
	if math.IsNaN(peak) || math.IsNaN(bound) || peak <= bound && !now.exact[s.own] {
		return
	}
	within := peak <= bound
	s.adaptive.Record(within)
	s.coverage.Add(indicator(within), now.weight)
	s.loss.Add(relativeLoss(pinball(s.level, peak, bound), now.level), now.weight)
}

// maxLoss bounds one loss, so that an unannounced launch does not outweigh everything that follows.
const maxLoss = 10

// relativeLoss returns a loss as a share of a level.
func relativeLoss(loss, level float64) float64 {
	if loss == 0 {
		return 0
	}
	return math.Min(loss/level, maxLoss) // The level may be 0.
}

// inUnits returns an error in a unit, which may be 0.
func inUnits(miss, unit float64) float64 {
	if miss == 0 {
		return 0
	}
	return miss / unit
}

// issue records the forecasts of a step: the peak of the lead window, and the medians of the other windows, NaN if there is none.
func (s *scores) issue(medians []float64, peak Peak, bound demand.Bound) {
	medians[s.own] = peak.Median
	for i := range s.views {
		s.views[i].issued.Push(medians[i])
	}
	s.units.Push(peak.unit())
	q := math.NaN()
	if s.calibrated(s.own) {
		q = boundedQuantile(s.own, peak, s.quantile(s.own, s.level), bound)
	}
	s.issuedQuantiles.Push(q)
}

// skip records a step whose forecasts are not scored.
func (s *scores) skip() {
	for i := range s.views {
		s.views[i].issued.Push(math.NaN())
	}
	s.units.Push(math.NaN())
	s.issuedQuantiles.Push(math.NaN())
}

func (s *scores) calibrated(view int) bool { return s.views[view].scores.Len() >= minScores }

// quantile returns a quantile of the peak over a window, in units above the median.
func (s *scores) quantile(view int, level float64) float64 {
	return s.views[view].scores.Quantile(s.adaptive.Level(level))
}

// boundedQuantile returns the value that is the given number of units above the median, limited to what the history justifies.
func boundedQuantile(view int, p Peak, units float64, bound demand.Bound) float64 {
	q, _ := bound.Limit(view).CapForecast(math.Max(0, p.Median+p.unit()*units))
	return q
}

// quantiles returns the quantiles of a peak over a calibrated window, limited to what the history justifies.
func (s *scores) quantiles(view int, p Peak, bound demand.Bound) Quantiles {
	var q Quantiles
	for i, level := range QuantileLevels() {
		q[i] = boundedQuantile(view, p, s.quantile(view, level), bound)
	}
	return q
}

// pinball returns the loss of a p-quantile q for the actual value y (Koenker & Bassett 1978).
func pinball(p, y, q float64) float64 {
	if y > q {
		return p * (y - q)
	}
	return (1 - p) * (q - y)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Collector gathers the rows of one workload to which a prior is fitted. A row has the features and the actual window peak, divided by the
// level of the demand at that time.
type Collector struct {
	// Rows gathered so far.
	Rows quantreg.Rows

	set     *CandidateSet
	pending pending
	levels  []float64
	every   int
	steps   int
}

// NewCollector returns a Collector that takes a row of a new set every given number of steps.
func NewCollector(set *CandidateSet, every int) *Collector {
	f := set.regression.features
	every = max(1, every)
	return &Collector{set: set, every: every, pending: newPending(f.window/every+2, len(f.row))}
}

// Step records the next step in the set, and its row.
func (c *Collector) Step(x demand.Sample) {
	c.set.Step(x)
	f := c.set.regression.features
	if row, ok := c.pending.due(c.steps); ok {
		level := c.levels[0]
		c.levels = c.levels[1:]
		if actual := f.actualPeak; !math.IsNaN(actual) && level > 0 {
			for _, v := range row {
				c.Rows.X = append(c.Rows.X, v/level)
			}
			c.Rows.Y = append(c.Rows.Y, actual/level)
		}
	}
	if c.steps%c.every == 0 && !math.IsNaN(x.Observed) {
		c.pending.add(c.steps+f.window, f.row)
		c.levels = append(c.levels, f.level.Value())
	}
	c.steps++
}

// quantileLevels are the probabilities of a Quantiles. They are dense in the upper tail, which decisions use.
var quantileLevels = [...]float64{ //nolint:gochecknoglobals // A constant table.
	0.05, 0.25, 0.5, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995,
}

// LowestQuantile and HighestQuantile limit the quantiles that can be requested.
const (
	LowestQuantile  = 0.05
	HighestQuantile = 0.995
)

// Quantiles is a distribution at the QuantileLevels, never decreasing.
type Quantiles [len(quantileLevels)]float64

// QuantileLevels are the probabilities of a Quantiles, ascending.
func QuantileLevels() []float64 { return quantileLevels[:] }

// At is the p-quantile, linear between levels. Outside [LowestQuantile, HighestQuantile], it is the quantile at the nearer end.
func (q *Quantiles) At(p float64) float64 {
	if p <= quantileLevels[0] {
		return q[0]
	}
	for i := 1; i < len(quantileLevels); i++ {
		if p <= quantileLevels[i] {
			share := (p - quantileLevels[i-1]) / (quantileLevels[i] - quantileLevels[i-1])
			return q[i-1] + share*(q[i]-q[i-1])
		}
	}
	return q[len(q)-1]
}

// Window is the distribution of the maximum of demand over (t, t + Horizon].
type Window struct {
	Horizon   time.Duration
	Quantiles Quantiles
}

// QuantilesAtHorizon returns the quantiles for a horizon between the horizons of the windows, which ascend. It interpolates linearly in the
// square root of the horizon, because the spread of a random walk grows like that. ok is false outside the range of the horizons.
func QuantilesAtHorizon(windows []Window, horizon time.Duration) (q Quantiles, ok bool) {
	for i, w := range windows {
		switch {
		case w.Horizon == horizon:
			return w.Quantiles, true
		case w.Horizon < horizon:
			continue
		case i == 0:
			return Quantiles{}, false
		}
		return interpolateWindows(windows[i-1], w, horizon), true
	}
	return Quantiles{}, false
}

func interpolateWindows(low, high Window, horizon time.Duration) Quantiles {
	from, to := math.Sqrt(low.Horizon.Seconds()), math.Sqrt(high.Horizon.Seconds())
	share := (math.Sqrt(horizon.Seconds()) - from) / (to - from)
	var q Quantiles
	for i := range q {
		q[i] = low.Quantiles[i] + share*(high.Quantiles[i]-low.Quantiles[i])
	}
	return q
}

package windowpeak

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/credible"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// Peak is a forecast of a window peak, in the demand's unit.
type Peak struct {
	// Median of it, 0 or more.
	Median float64
	// Spread is the candidate's unit of how far the peak may lie from there, more than 0 where there is any demand: the
	// distance to the 95 % quantile of the regression, the mean miss of the last hours of the others.
	Spread float64

	// level is the mean demand.
	level float64
}

// unit of scores: the geometric mean of the spread and the level. The spread alone would answer one burst with hours of far
// too much (on recorded demand its pinball loss is 4 % higher in the mean), the level alone would not answer.
func (p Peak) unit() float64 { return math.Sqrt(p.Spread * p.level) }

// Candidate is one way to forecast the window peak, with what it forecasts now and how it did.
type Candidate struct {
	name     string
	baseline bool
	of       source
	peak     Peak
	// own says that the peak is the candidate's own: until it has one the demand now stands in.
	own bool
	// issued are the medians of the lead windows that are open, and miss how far they went wrong.
	issued trailing.Ring[float64]
	miss   trailing.Mean
	scores scores
}

// source is what a candidate forecasts by. One that takes samples has push, which sees a step before the features do, or
// follow, which sees it after them; one that may have nothing to forecast by has err, one that knows steps has path.
type source interface {
	// median of the peak over the lead window, NaN while there is none.
	median() float64
	// maximaTo writes the highest forecast of each of the windows, in steps and ascending, to dst: NaN where there is none.
	maximaTo(dst []float64, windows []int)
	title() string
}

// missOver is the time over which misses are averaged.
const missOver = 2 * time.Hour

func newCandidate(name string, of source, s *Set) *Candidate {
	return &Candidate{
		name: name, baseline: slices.Contains(Baselines(), name), of: of,
		issued: trailing.NewRing[float64](s.windows[s.own] + 1), miss: trailing.NewMean(missOver, s.config.Step),
		scores: newScores(s.config, s.windows, s.own),
	}
}

// Name as a selector writes it: "arima".
func (c *Candidate) Name() string { return c.name }

// Title is the candidate in the field's words: "ARIMA(1,1,1)".
func (c *Candidate) Title() string { return c.of.title() }

// Baseline says that it is one of those that cost nothing.
func (c *Candidate) Baseline() bool { return c.baseline }

// Err is why it does not forecast; nil where it does.
func (c *Candidate) Err() error {
	if of, ok := c.of.(interface{ err() error }); ok {
		return of.err()
	}
	return nil
}

// Peak is its forecast for the lead window ahead; own says that it is its own, and not the demand now in its stead.
func (c *Candidate) Peak() (p Peak, own bool) { return c.peak, c.own }

// step takes what came over the lead window that has ended, and forecasts the next.
func (c *Candidate) step(f *Features) {
	if came := f.Came(); !math.IsNaN(came) && c.issued.Knows(f.window-1) {
		// What came at least says nothing against a forecast above it.
		if before := c.issued.Ago(f.window - 1); !math.IsNaN(before) && (f.Exact() || came > before) {
			c.miss.Add(math.Abs(came - before))
		}
	}
	median := c.of.median()
	c.own = !math.IsNaN(median) && !math.IsInf(median, 0)
	if !c.own {
		median = f.known()
	}
	c.issued.Push(median)
	c.peak = Peak{Median: math.Max(median, 0), Spread: c.spread(f), level: f.Level()}
}

// spread is the regression's own, or else the mean miss.
func (c *Candidate) spread(f *Features) float64 {
	if r, ok := c.of.(*regressed); ok {
		return r.peak.Spread
	}
	return math.Max(c.miss.Shrunk(leastSpread*f.Level(), spreadPrior), leastTail*f.Level())
}

// Calibrated says whether enough windows came to tell quantiles of the lead window.
func (c *Candidate) Calibrated() bool { return c.own && c.scores.calibrated(c.scores.own) }

// Quantiles is the distribution of the peak over the lead window, no more than history justifies. It is known where the
// candidate is calibrated.
func (c *Candidate) Quantiles(bound credible.Bound) Quantiles {
	return c.scores.quantiles(c.scores.own, c.peak, bound)
}

// Quantile is the p-quantile of the peak over a window in steps; NaN where that is not calibrated.
func (c *Candidate) Quantile(window int, p float64, bound credible.Bound) float64 {
	at := slices.Index(c.scores.windows, window)
	if at < 0 || !c.own || !c.scores.calibrated(at) {
		return math.NaN()
	}
	of := c.peaks()[at]
	if math.IsNaN(of.Median) {
		return math.NaN()
	}
	return cut(at, of, c.scores.quantile(at, p), bound)
}

// peaks are its forecasts for all windows; the median of one that it does not know is NaN.
func (c *Candidate) peaks() []Peak {
	medians := make([]float64, len(c.scores.windows))
	c.of.maximaTo(medians, c.scores.windows)
	out := make([]Peak, len(medians))
	for i, median := range medians {
		out[i] = Peak{Median: math.Max(median, 0), Spread: c.peak.Spread, level: c.peak.level}
	}
	out[c.scores.own] = c.peak
	return out
}

// Forecast is that of the next steps; empty where the candidate knows no steps.
func (c *Candidate) Forecast(steps int) forecast.Forecast {
	if by, ok := c.of.(interface {
		path(steps int) forecast.Forecast
	}); ok {
		return by.path(steps)
	}
	return forecast.Forecast{}
}

// Windows are the distributions over all windows that are calibrated, in order of their length.
func (c *Candidate) Windows(step time.Duration, bound credible.Bound) []Window {
	if !c.own {
		return nil
	}
	var out []Window
	for i, p := range c.peaks() {
		if !c.scores.calibrated(i) || math.IsNaN(p.Median) {
			continue
		}
		out = append(out, Window{
			Horizon: time.Duration(c.scores.windows[i]) * step, Quantiles: c.scores.quantiles(i, p, bound),
		})
	}
	return out
}

// Loss is the mean pinball loss of the quantile that is served, as a share of the mean demand, Coverage the share of peaks
// within it: both over the last season, a season ago counting half. NaN until known.
func (c *Candidate) Loss() float64 { return c.scores.loss.Value() }

// Coverage see Loss.
func (c *Candidate) Coverage() float64 { return c.scores.coverage.Value() }

// Path is the forecast step by step: the points, and for each of some levels the quantiles. Those of the first step are
// calibrated by what came, from there on they widen as the model's own standard errors do. (Those errors themselves are not
// taken at their word: one outage in the history inflates them for good.) Empty where the candidate knows no steps, and until
// it is calibrated.
func (c *Candidate) Path(steps int, levels []float64) (points []float64, quantiles [][]float64) {
	forecasts := c.Forecast(steps)
	if len(forecasts.Point) == 0 || !c.scores.calibrated(0) {
		return nil, nil
	}
	for _, level := range levels {
		spread := c.peak.unit() * c.scores.quantile(0, level)
		one := make([]float64, steps)
		for i, point := range forecasts.Point {
			widening := 1.0
			if first := forecasts.StdErr[0]; first > 0 {
				widening = forecasts.StdErr[i] / first
			}
			one[i] = math.Max(0, point+spread*widening)
		}
		quantiles = append(quantiles, one)
	}
	for _, point := range forecasts.Point {
		points = append(points, math.Max(0, point))
	}
	return points, quantiles
}

// Steps says that the candidate forecasts step by step, and windows of any length.
func (c *Candidate) Steps() bool {
	_, ok := c.of.(interface {
		path(steps int) forecast.Forecast
	})
	return ok && c.own
}

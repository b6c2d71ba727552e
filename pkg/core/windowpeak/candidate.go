package windowpeak

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// Peak is a forecast of a window peak, in the demand's unit.
type Peak struct {
	// Median, 0 or more.
	Median float64
	// Spread is the unit of deviations from the median, more than 0 if there is demand. For the regression, it is the distance to its 95 %
	// quantile. For other candidates, it is twice the mean error in the last hours. Forecasts that were too high count as errors of 0, so
	// for symmetric errors, this is the mean absolute error.
	Spread float64

	// level is the mean demand of about the last day.
	level float64
}

// unit returns the unit of scores: the geometric mean of the spread and the level. With the spread alone, one burst causes hours of
// quantiles that are far too high, and on recorded demand the mean pinball loss is 4 % higher. The level alone does not react to changes of
// the errors.
func (p Peak) unit() float64 { return math.Sqrt(p.Spread * p.level) }

// Candidate is one way to forecast the window peak, with its current forecast and its scores.
type Candidate struct {
	// Name as in a selector, for example "arima".
	Name string
	// Baseline: it needs no model. It is always included.
	Baseline bool

	predictor predictor
	peak      Peak
	// hasForecast is false while the present demand is used instead of a forecast.
	hasForecast bool
	// issued are the medians of open lead windows. miss is twice the mean amount by which such medians were too low.
	issued series.Ring[float64]
	miss   series.TrailingMean
	// predicted are the predictor's medians of open lead windows. level is the highest ratio of an actual peak to its median in the last
	// lead window, at most 1.
	predicted series.Ring[float64]
	ratios    *series.TrailingMax
	level     float64
	scores    scores
}

// predictor makes a candidate's forecasts. A predictor that reads samples has a method push, which is called before the features are
// updated, or follow, which is called after that. A predictor that can fail has err, and a predictor that forecasts step by step has path.
type predictor interface {
	// median returns the median of the window peak; NaN if there is no forecast.
	median() float64
	// maximaTo writes the highest forecast of each window to dst; NaN if there is none. The windows are in steps and ascend.
	maximaTo(dst []float64, windows []int)
	title() string
}

// missOver is the time over which errors are averaged.
const missOver = 2 * time.Hour

func newCandidate(name string, of predictor, s *CandidateSet) *Candidate {
	window := s.Windows[s.LeadWindow]
	return &Candidate{
		Name: name, Baseline: slices.Contains(baselines(), name), predictor: of,
		issued: series.NewRing[float64](window + 1), miss: series.NewTrailingMean(missOver, s.config.Step),
		predicted: series.NewRing[float64](window + 1), ratios: series.NewTrailingMax(window), level: 1,
		scores: newScores(s.config, s.Windows, s.LeadWindow),
	}
}

// Title for display, for example "ARIMA(1,1,1)".
func (c *Candidate) Title() string { return c.predictor.title() }

// Err says why the candidate has no forecast; nil if it has one.
func (c *Candidate) Err() error {
	if of, ok := c.predictor.(interface{ err() error }); ok {
		return of.err()
	}
	return nil
}

// Peak is the forecast for the lead window ahead; ok is false if there is no forecast and the result is the present demand.
func (c *Candidate) Peak() (p Peak, ok bool) { return c.peak, c.hasForecast }

// step records the error of the lead window that ends now, and forecasts the next one.
func (c *Candidate) step(f *features) {
	c.learn(f)
	median := c.predictor.median()
	c.hasForecast = !math.IsNaN(median) && !math.IsInf(median, 0)
	if !c.hasForecast {
		median = f.known()
	}
	c.predicted.Push(median)
	median = c.levelled(median, f)
	c.issued.Push(median)
	c.peak = Peak{Median: math.Max(median, 0), Spread: c.spread(f), level: f.level.Value()}
}

// levelled scales a median of the predictor to the level that the demand has fallen to. The result is at least the present demand, unless
// the median itself is lower.
func (c *Candidate) levelled(median float64, f *features) float64 {
	return math.Max(median*c.level, math.Min(median, f.known()))
}

// learn records by how much the forecast of the lead window that ends now was too low, and updates the level. After a fall that the
// predictor does not see, every forecast is too high, and the forecast with the smallest error shows by how much at least. A lower bound of
// the demand is not evidence against a higher forecast.
func (c *Candidate) learn(f *features) {
	ratio := math.NaN()
	if actual := f.actualPeak; !math.IsNaN(actual) && c.issued.Has(f.window-1) {
		before, predicted := c.issued.Ago(f.window-1), c.predicted.Ago(f.window-1)
		if !math.IsNaN(before) && (f.exact() || actual > before) {
			c.miss.Add(f.remembered(2 * math.Max(actual-before, 0)))
		}
		if ratio = actual / predicted; !f.exact() {
			ratio = 1
		}
	}
	c.level = 1
	if highest := c.ratios.Push(ratio); highest < 1 {
		c.level = math.Max(highest, 0)
	}
}

// spread returns the spread of the regression. For other candidates, it is the mean error, reduced in proportion if the demand has fallen
// since then.
func (c *Candidate) spread(f *features) float64 {
	if r, ok := c.predictor.(*regressionPredictor); ok {
		return r.peak.Spread
	}
	miss := c.miss.Shrunk(minSpread*f.level.Value(), spreadPrior)
	return math.Max(miss*f.fall(), minTail*f.level.Value())
}

// Calibrated reports whether enough windows were scored for quantiles of the lead window.
func (c *Candidate) Calibrated() bool { return c.hasForecast && c.scores.calibrated(c.scores.own) }

// Quantiles of the window peak, limited to what the history justifies. The candidate must be calibrated.
func (c *Candidate) Quantiles(bound demand.Bound) Quantiles {
	return c.scores.quantiles(c.scores.own, c.peak, bound)
}

// Quantile is the p-quantile of the peak over a window in steps; NaN if the window is not calibrated.
func (c *Candidate) Quantile(window int, p float64, bound demand.Bound) float64 {
	at := slices.Index(c.scores.windows, window)
	if at < 0 || !c.hasForecast || !c.scores.calibrated(at) {
		return math.NaN()
	}
	of := c.peaks()[at]
	if math.IsNaN(of.Median) {
		return math.NaN()
	}
	return boundedQuantile(at, of, c.scores.quantile(at, p), bound)
}

// peaks returns the forecasts for all windows. The median is NaN for a window without a forecast.
func (c *Candidate) peaks() []Peak {
	medians := make([]float64, len(c.scores.windows))
	c.maximaTo(medians)
	out := make([]Peak, len(medians))
	for i, median := range medians {
		out[i] = Peak{Median: math.Max(median, 0), Spread: c.peak.Spread, level: c.peak.level}
	}
	out[c.scores.own] = c.peak
	return out
}

// maximaTo writes the highest forecast of each window to dst; NaN if there is none.
func (c *Candidate) maximaTo(dst []float64) {
	c.predictor.maximaTo(dst, c.scores.windows)
	for i := range dst {
		dst[i] *= c.level
	}
}

// Forecast of the next steps; empty if the candidate does not forecast steps.
func (c *Candidate) Forecast(steps int) forecast.Forecast {
	if by, ok := c.predictor.(interface {
		path(steps int) forecast.Forecast
	}); ok {
		out := by.path(steps)
		for i := range out.Point {
			out.Point[i] *= c.level
		}
		return out
	}
	return forecast.Forecast{}
}

// Windows are the quantiles over all calibrated windows, in order of their length.
func (c *Candidate) Windows(step time.Duration, bound demand.Bound) []Window {
	if !c.hasForecast {
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

// Loss is the mean pinball loss at the served level, as a share of the mean demand, with a half-life of a season. NaN until
// known.
func (c *Candidate) Loss() float64 { return c.scores.loss.Value() }

// Coverage is the share of actual peaks up to the quantile at the served level, with a half-life of a season. NaN until known.
func (c *Candidate) Coverage() float64 { return c.scores.coverage.Value() }

// Path is the forecast step by step: the points, and the quantiles at each level. The quantiles of the first step are calibrated. After
// that, they widen like the model's standard errors. The standard errors themselves are not used, because one outage in the history
// inflates them permanently. The path is empty if the candidate does not forecast steps, and until it is calibrated.
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

// ForecastsSteps reports whether the candidate forecasts step by step, and so over windows of any length. A new candidate's
// lead window is calibrated before its other windows, which are scored less often.
func (c *Candidate) ForecastsSteps() bool {
	_, ok := c.predictor.(interface {
		path(steps int) forecast.Forecast
	})
	return ok && c.hasForecast && c.scores.calibrated(0)
}

package smoothing

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// structure is what the three models have in common: which parts there are and which parameters are given.
type structure struct {
	name  string
	trend Trend
	// period is 0 where there is no season.
	period    int
	fixed     fixed
	criterion Criterion
}

// least is how many steps after the first observation the structure needs, itself included.
func (s structure) least() int {
	switch {
	case s.period > 0:
		return s.period*startSeasons + 1
	case s.trend != NoTrend:
		return 3
	default:
		return 2
	}
}

// observations is how many of them must exist.
func (s structure) observations() int {
	if s.trend != NoTrend && s.period == 0 {
		return 3
	}
	return 2
}

// fit estimates the structure on the series.
func (s structure) fit(series forecast.Series) (*Fitted, error) {
	if err := s.fixed.check(s.name); err != nil {
		return nil, err
	}
	if err := s.criterion.check(s.name); err != nil {
		return nil, err
	}
	if err := numeric.Check(series, s.observations()); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	first := numeric.First(series.Values)
	if n := series.Len() - first; n < s.least() {
		return nil, fmt.Errorf("%s: %d steps from the first observation on, want %d: %w",
			s.name, n, s.least(), forecast.ErrTooShort)
	}
	scale := numeric.Scale(series.Values)
	values := make([]float64, series.Len())
	for i, v := range series.Values {
		values[i] = v / scale
	}
	search := s.begin(values, first)
	if search.count == 0 {
		return nil, fmt.Errorf("%s: no observation after those with which it starts: %w", s.name, forecast.ErrTooShort)
	}
	fitted, err := s.finish(search, scale)
	if err != nil {
		return nil, err
	}
	fitted.next, fitted.step = series.End(), series.Step
	return fitted, nil
}

// finish makes the fitted model of the best parameters, in the units of the series.
func (s structure) finish(search *search, scale float64) (*Fitted, error) {
	p := search.minimise()
	sum := search.pass(p)
	if math.IsInf(sum, 1) {
		return nil, fmt.Errorf("%s: its errors grow without bound: %w", s.name, forecast.ErrNoConvergence)
	}
	freedom := search.count - len(search.free)
	if freedom <= 0 {
		freedom = search.count
	}
	f := &Fitted{
		parameters: p, gains: p.gains(), state: search.start, period: s.period,
		sse: sum * scale * scale, deviation: scale * math.Sqrt(sum/float64(freedom)),
	}
	f.gap = innovations.NewResponse(f.gains, f.period)
	if search.outlook != nil && !math.IsInf(search.ahead(p), 1) {
		responses := f.gap
		f.deviation = scale * search.outlook.calibrated(f.deviation/scale, responses.Next)
	}
	for _, y := range search.values {
		f.observe(y)
	}
	f.rescale(scale)
	return f, nil
}

// rescale multiplies the states with the scale of the series.
func (f *Fitted) rescale(scale float64) {
	f.state.level *= scale
	f.state.trend *= scale
	for i := range f.state.season {
		f.state.season[i] *= scale
	}
}

// Criterion is what a fit minimises. The zero value is the sum of the squared one-step errors, the convention.
//
// On demand that is close to a random walk, the criterion of one step leads to α ≈ 1: the last value, with all its
// noise. To act on the coming quarter of an hour, fit for it: Criterion{Horizon: 15}. The standard errors are those of
// these steps too: their mean square is that of the observed errors.
type Criterion struct {
	// Horizon is how many steps ahead count, each like the next; 0 and 1 mean the next step alone.
	Horizon int
}

// check reports a criterion outside its domain.
func (c Criterion) check(name string) error {
	if c.Horizon < 0 {
		return fmt.Errorf("%s: a criterion over %d steps, want 0 or more: %w", name, c.Horizon, forecast.ErrParameter)
	}
	return nil
}

// plain means that the criterion is the convention.
func (c Criterion) plain() bool { return c.Horizon <= 1 }

// mostErrors bounds the errors ahead that a criterion takes, as those of neighbouring origins say much the same: of
// many, only every second, third … origin counts.
const mostErrors = 1200

// outlook sums the squared errors of the steps ahead.
type outlook struct {
	stride     int
	points     []float64
	sum, count float64
}

func newOutlook(c Criterion, n int) *outlook {
	steps := max(c.Horizon, 1)
	return &outlook{stride: 1 + n*steps/mostErrors, points: make([]float64, steps)}
}

func (o *outlook) clear() { o.sum, o.count = 0, 0 }

// compare takes the errors of o.points, the forecasts of the coming values.
func (o *outlook) compare(coming []float64) {
	for k, point := range o.points[:min(len(o.points), len(coming))] {
		if e := coming[k] - point; !math.IsNaN(e) {
			o.sum += e * e
			o.count++
		}
	}
}

// loss is the mean over what was compared, +Inf where nothing was.
func (o *outlook) loss() float64 {
	if o.count == 0 {
		return math.Inf(1)
	}
	return o.sum / o.count
}

// calibrated turns the deviation of the one-step errors into the one with which the model's standard errors have, over
// the steps ahead, the mean square that the fit met: parameters that do not aim at the next step leave its errors
// correlated, and what the responses (by next) sum up from them is off.
func (o *outlook) calibrated(deviation float64, next func() float64) float64 {
	if o.count == 0 || deviation == 0 {
		return deviation
	}
	variance, implied := 1.0, 0.0
	for range o.points {
		implied += variance / float64(len(o.points))
		c := next()
		variance += c * c
	}
	return math.Sqrt(o.sum / o.count / implied)
}

package smoothing

import (
	"fmt"
	"math"
	"slices"

	"github.com/forewarm/forewarm/forecast"
)

// Criterion is what a fit minimises. The zero value is the sum of the squared one-step errors, the convention.
//
// On demand that is close to a random walk, the criterion of one step leads to α ≈ 1: the last value, with all its
// noise. To act on the coming quarter of an hour, fit for it: Criterion{Horizon: 15}. With squared errors over several
// steps the standard errors are those of these steps too: their mean square is that of the observed errors.
type Criterion struct {
	// Horizon is how many steps ahead count, each like the next; 0 and 1 mean the next step alone.
	Horizon int
	// Quantile, if not 0, asks for the pinball loss at this quantile in place of the squares, between 0 and 1. The
	// errors of every step ahead are taken about their own quantile, as calibrated intervals will be, so the fit looks
	// for errors that spread little on the side that matters. 0.5 means absolute errors about the median.
	Quantile float64
}

// check reports a criterion outside its domain.
func (c Criterion) check(name string) error {
	switch {
	case c.Horizon < 0:
		return fmt.Errorf("%s: a criterion over %d steps, want 0 or more: %w", name, c.Horizon, forecast.ErrParameter)
	case !(c.Quantile >= 0 && c.Quantile < 1):
		return fmt.Errorf("%s: a criterion at the quantile %v, want it below 1 and not below 0: %w",
			name, c.Quantile, forecast.ErrParameter)
	}
	return nil
}

// plain means that the criterion is the convention.
func (c Criterion) plain() bool { return c.Horizon <= 1 && c.Quantile == 0 }

// mostErrors bounds the errors ahead that a criterion takes, as those of neighbouring origins say much the same: of
// many, only every second, third … origin counts.
const mostErrors = 1200

// outlook gathers the errors of the steps ahead.
type outlook struct {
	Criterion
	stride int
	points []float64
	// errors of each step ahead, where a quantile of them is asked for; otherwise their squares are summed.
	errors     [][]float64
	sum, count float64
}

func newOutlook(c Criterion, n int) *outlook {
	steps := max(c.Horizon, 1)
	out := &outlook{Criterion: c, stride: 1 + n*steps/mostErrors, points: make([]float64, steps)}
	if c.Quantile > 0 {
		out.errors = make([][]float64, steps)
		for i := range out.errors {
			out.errors[i] = make([]float64, 0, n/out.stride+1)
		}
	}
	return out
}

func (o *outlook) clear() {
	o.sum, o.count = 0, 0
	for i := range o.errors {
		o.errors[i] = o.errors[i][:0]
	}
}

// compare takes the errors of o.points, the forecasts of the coming values.
func (o *outlook) compare(coming []float64) {
	for k, point := range o.points[:min(len(o.points), len(coming))] {
		e := coming[k] - point
		switch {
		case math.IsNaN(e):
		case o.errors == nil:
			o.sum += e * e
			o.count++
		default:
			o.errors[k] = append(o.errors[k], e)
		}
	}
}

// loss is the mean over what was compared, +Inf where nothing was.
func (o *outlook) loss() float64 {
	for _, errors := range o.errors {
		if len(errors) == 0 {
			continue
		}
		slices.Sort(errors)
		middle := errors[int(o.Quantile*float64(len(errors)-1))]
		for _, e := range errors {
			o.sum += math.Max(o.Quantile*(e-middle), (o.Quantile-1)*(e-middle))
		}
		o.count += float64(len(errors))
	}
	if o.count == 0 {
		return math.Inf(1)
	}
	return o.sum / o.count
}

// calibrated turns the deviation of the one-step errors into the one with which the model's standard errors have, over
// the steps ahead, the mean square that the fit met: parameters that do not aim at the next step leave its errors
// correlated, and what the responses (by next) sum up from them is off. It keeps the deviation where the errors are not
// squared.
func (o *outlook) calibrated(deviation float64, next func() float64) float64 {
	if o.errors != nil || o.count == 0 || deviation == 0 {
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

package smoothing

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

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

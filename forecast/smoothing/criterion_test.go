package smoothing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

// wandering is a random walk under noise: the best α falls with the horizon.
func wandering(n int) []float64 {
	random := rand.New(rand.NewPCG(11, 1))
	out, level := make([]float64, n), 100.0
	for i := range out {
		level += 0.3 * random.NormFloat64()
		out[i] = level + 2*random.NormFloat64()
	}
	return out
}

// loss is the criterion by its definition: every step ahead from every origin, by the public face of a fit.
func loss(
	t *testing.T, fixed func(alpha float64) estimator, alpha float64, values []float64, c smoothing.Criterion,
) float64 {
	t.Helper()
	const begun = 30
	fitted := estimate(t, fixed(alpha), daily(values[:begun]))
	points := make([]float64, c.Horizon)
	sum, count := 0.0, 0.0
	for i := begun; i < len(values); i++ {
		fitted.PointsTo(points)
		for k, point := range points[:min(c.Horizon, len(values)-i)] {
			sum += (values[i+k] - point) * (values[i+k] - point)
			count++
		}
		fitted.Update(values[i])
	}
	return sum / count
}

// TestCriterion checks that the fit finds what a grid of α finds by the definition.
func TestCriterion(t *testing.T) {
	values := wandering(300)
	ses := func(alpha float64) estimator { return smoothing.SES{Alpha: &alpha} }
	for _, c := range []smoothing.Criterion{{Horizon: 1}, {Horizon: 5}, {Horizon: 15}} {
		found := estimate(t, smoothing.SES{Criterion: c}, daily(values)).Parameters().Alpha
		best := math.Inf(1)
		for alpha := 0.01; alpha <= 1; alpha += 0.01 {
			best = math.Min(best, loss(t, ses, alpha, values, c))
		}
		// The first steps, which the definition here leaves out, weigh a little.
		if got := loss(t, ses, found, values, c); got > 1.01*best {
			t.Errorf("%+v: α = %.3f has the loss %v, the grid finds %v", c, found, got, best)
		}
	}
}

// TestCriterionCalibrates checks that the standard errors are those of the steps that were fitted for.
func TestCriterionCalibrates(t *testing.T) {
	values := wandering(300)
	c := smoothing.Criterion{Horizon: 15}
	fitted := estimate(t, smoothing.SES{Criterion: c}, daily(values))
	implied := 0.0
	for _, e := range fitted.Forecast(c.Horizon).StdErr {
		implied += e * e / float64(c.Horizon)
	}
	ses := func(alpha float64) estimator { return smoothing.SES{Alpha: &alpha} }
	met := loss(t, ses, fitted.Parameters().Alpha, values, c)
	within(t, "mean square", implied/met, 1, 0.03)
}

// TestCriterionOfASeason checks that looking a season ahead does not chase the next step.
func TestCriterionOfASeason(t *testing.T) {
	values := seasonal(3, 400, 12)
	for i, y := range wandering(400) {
		values[i] += y
	}
	far := smoothing.Criterion{Horizon: 12}
	near := estimate(t, smoothing.HoltWinters{Period: 12}, daily(values))
	wide := estimate(t, smoothing.HoltWinters{Period: 12, Criterion: far}, daily(values))
	of := func(fitted *smoothing.Fitted) float64 {
		p := fitted.Parameters()
		fixed := func(alpha float64) estimator {
			return smoothing.HoltWinters{Period: 12, Alpha: &alpha, Beta: &p.Beta, Gamma: &p.Gamma}
		}
		return loss(t, fixed, p.Alpha, values, far)
	}
	if got, plain := of(wide), of(near); got > plain {
		t.Errorf("loss %v with the criterion, %v without it", got, plain)
	}
	if near.SSE() > wide.SSE() {
		t.Errorf("SSE %v without the criterion, %v with it", near.SSE(), wide.SSE())
	}
}

func TestBadCriterion(t *testing.T) {
	s := daily(wandering(50))
	c := smoothing.Criterion{Horizon: -1}
	for _, model := range []forecast.Model{
		smoothing.SES{Criterion: c}, smoothing.DoubleSeasonal{Periods: [2]int{2, 4}, Criterion: c},
	} {
		if _, err := model.Fit(s); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want %v", model.Name(), err, forecast.ErrParameter)
		}
	}
}

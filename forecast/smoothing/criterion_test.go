package smoothing_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
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

func models() []forecast.Model {
	return []forecast.Model{
		smoothing.SES{},
		smoothing.Holt{},
		smoothing.Holt{Damped: true},
		smoothing.HoltWinters{Period: 2},
		smoothing.HoltWinters{Period: 7},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.DampedTrend},
		smoothing.HoltWinters{Period: 12, Trend: smoothing.NoTrend},
		smoothing.HoltWinters{Period: 7, Criterion: smoothing.Criterion{Horizon: 5}},
		smoothing.Holt{Criterion: smoothing.Criterion{Horizon: 5}},
		smoothing.DoubleSeasonal{Periods: [2]int{3, 12}},
		smoothing.DoubleSeasonal{Periods: [2]int{3, 12}, Damped: true},
	}
}

func TestHostileSeries(t *testing.T) {
	for _, model := range models() {
		modeltest.Test(t, model)
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(2), uint8(0), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, period, trend uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, smoothing.SES{}, values)
		modeltest.Check(t, smoothing.Holt{Damped: trend%2 == 1}, values)
		modeltest.Check(t, smoothing.HoltWinters{Period: int(period % 30), Trend: smoothing.Trend(trend % 3)}, values)
		periods := [2]int{int(period % 5), int(period % 5 * (trend % 5))}
		modeltest.Check(t, smoothing.DoubleSeasonal{Periods: periods}, values)
	})
}

func minutes(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: time.Minute, Values: values}
}

// Half of every surprise moves the level: 10, then 10 + (14−10)/2 = 12, then 12 + (16−12)/2 = 14.
func ExampleSES() {
	fitted, err := smoothing.SES{Alpha: new(0.5)}.Fit(minutes(10, 14, 16))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Forecast(2).Point)
	fitted.Update(18)
	fmt.Println(fitted.Forecast(2).Point)
	// Output:
	// [14 14]
	// [16 16]
}

// A line goes on; damped by a half, it gains 1 + 1/2 + 1/4 of its slope of 4.
func ExampleHolt() {
	line := minutes(1, 5, 9, 13)
	plain, err := smoothing.Holt{}.Fit(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plain.Forecast(3).Point)
	damped, err := smoothing.Holt{Damped: true, Alpha: new(1.0), Beta: new(1.0), Phi: new(0.5)}.Fit(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(damped.Forecast(3).Point)
	// Output:
	// [17 21 25]
	// [15 16 16.5]
}

// Four steps that repeat go on repeating; a gap does not stop them.
func ExampleHoltWinters() {
	model := smoothing.HoltWinters{Period: 4, Trend: smoothing.NoTrend}
	fitted, err := model.Fit(minutes(10, 20, 30, 20, 10, 20, 30, 20, 10, 20, 30, 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Name())
	fmt.Println(fitted.Forecast(4).Point)
	fitted.Update(10)
	fmt.Println(fitted.Forecast(4).Point)
	// Output:
	// Holt-Winters(m=4, no trend)
	// [10 20 30 20]
	// [20 30 20 10]
}

// A day of two steps within a week of three days, the last of them quiet.
func ExampleDoubleSeasonal() {
	week := []float64{10, 20, 10, 20, 4, 14}
	model := smoothing.DoubleSeasonal{Periods: [2]int{2, 6}}
	fitted, err := model.Fit(minutes(slices.Concat(week, week, week)...))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Name())
	fmt.Printf("%.0f\n", fitted.Forecast(8).Point)
	// Output:
	// double-seasonal(m=2,6)
	// [10 20 10 20 4 14 10 20]
}

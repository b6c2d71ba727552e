package ets_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// known is a model with everything fixed, of period 4 or 0.
func known(t *testing.T, m ets.Model, values []float64) *ets.Fitted {
	t.Helper()
	p, trend, season := ets.Parameters{Alpha: 0.4, Phi: 1}, 0.0, []float64(nil)
	if m.Trend != ets.NoTrend {
		p.Beta, trend = 0.1, 1
	}
	if m.Trend == ets.DampedTrend {
		p.Phi = 0.9
	}
	if m.Period > 0 {
		p.Gamma, season = 0.3, []float64{10, -20, 5, 5}
	}
	fitted, err := m.Fixed(p, 100, trend, season, daily(values))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// TestMomentsAgainstPaths checks means and standard errors against simulated paths, over three seasons.
func TestMomentsAgainstPaths(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	const n, steps = 8000, 12
	for _, model := range six(4) {
		fitted := known(t, model, []float64{112, 83, 105, 101, 118, 85, 110, 108, 121, 92})
		want := fitted.Forecast(steps)
		var sum, squares [steps]float64
		for range n {
			path, next := fitted.Clone(), make([]float64, 1)
			for i, mean := range want.Point {
				path.PointsTo(next)
				y := next[0] + fitted.Deviation()*random.NormFloat64()
				path.Update(y)
				sum[i] += (y - mean) / n
				squares[i] += (y - mean) * (y - mean) / n
			}
		}
		for i, deviation := range want.StdErr {
			what := fmt.Sprintf("%s, step %d: ", model.Name(), i+1)
			relative(t, what+"standard error", math.Sqrt(squares[i]-sum[i]*sum[i]), deviation, 0.03)
			if math.Abs(sum[i]) > 0.05*deviation {
				t.Errorf("%sthe mean is off by %v, with a standard error of %v", what, sum[i], deviation)
			}
		}
	}
}

// TestGapWidens checks that a forecast over a gap is the one from before it, and that an observation makes the errors
// shrink again.
func TestGapWidens(t *testing.T) {
	for _, model := range six(4) {
		fitted := known(t, model, demand(6, 60, 4))
		before := fitted.Forecast(20)
		for range 5 {
			fitted.Update(math.NaN())
		}
		after := fitted.Forecast(15)
		if want := before.Start.Add(5 * before.Step); !after.Start.Equal(want) {
			t.Errorf("%s: the forecast starts at %v, want %v", model.Name(), after.Start, want)
		}
		for i := range after.Point {
			relative(t, model.Name()+": point", after.Point[i], before.Point[i+5], 1e-9)
			relative(t, model.Name()+": standard error", after.StdErr[i], before.StdErr[i+5], 1e-9)
		}
		fitted.Update(after.Point[0])
		if got := fitted.Forecast(5).StdErr[4]; !(got < after.StdErr[4]) {
			t.Errorf("%s: standard error %v after an observation, %v before it", model.Name(), got, after.StdErr[4])
		}
	}
}

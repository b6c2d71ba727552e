package ets_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// TestGradient checks the backward pass against differences of the forward one, for every model.
func TestGradient(t *testing.T) {
	values := demand(1, 70, 4)
	values[5], values[22], values[23], values[69] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	for _, model := range six(4) {
		s, err := ets.NewDeviance(model, daily(values))
		if err != nil {
			t.Fatal(err)
		}
		x := make([]float64, s.Variables())
		for i := range x {
			x[i] = 0.3 + 0.02*float64(i%3)
		}
		got := make([]float64, len(x))
		if v := s.Value(x); math.IsInf(v, 0) || math.IsNaN(v) {
			t.Fatalf("%s: deviance %v", model.Name(), v)
		}
		s.Gradient(x, got)
		for i := range x {
			const step = 1e-6
			at := x[i]
			x[i] = at + step
			up := s.Value(x)
			x[i] = at - step
			down := s.Value(x)
			x[i] = at
			if want := (up - down) / (2 * step); !(math.Abs(got[i]-want) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("%s, variable %d: %v, by differences %v", model.Name(), i, got[i], want)
			}
		}
	}
}

// TestForecastable checks the recursion of Schur and Cohn against what it stands for: a disturbance of the states dies
// out, or not.
func TestForecastable(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	inside := 0
	for _, period := range []int{0, 4, 7} {
		for range 300 {
			model := ets.Model{Trend: ets.DampedTrend, Period: period}
			p := ets.Parameters{Alpha: 1.6 * random.Float64(), Beta: 0.8 * random.Float64(), Phi: 0.9}
			if period > 0 {
				p.Gamma = 1.2 * random.Float64()
			}
			got, grows := model.Forecastable(p), growth(t, model, p)
			if math.Abs(grows) < 0.02 {
				continue
			}
			if got {
				inside++
			}
			if want := grows < 0; got != want {
				t.Errorf("period %d, %+v: %v, a disturbance grows by %v", period, p, got, grows)
			}
		}
	}
	if inside < 100 || inside > 800 {
		t.Errorf("%d of 900 forecastable: the test says little", inside)
	}
}

// growth is the logarithm of the growth per step of the means after a disturbance, when nothing but zeros is observed.
func growth(t *testing.T, model ets.Model, p ets.Parameters) float64 {
	t.Helper()
	season := make([]float64, model.Period)
	if model.Period > 0 {
		season[0] = 0.5
	}
	fitted, err := model.Fixed(p, 1, 0.3, season, daily([]float64{0}))
	if err != nil {
		t.Fatal(err)
	}
	steps, next := 200*max(model.Period, 1), make([]float64, 1)
	size := func() float64 {
		sum := 1e-300
		for range steps {
			fitted.PointsTo(next)
			fitted.Update(0)
			sum += math.Abs(next[0])
		}
		return math.Log(sum)
	}
	first := size()
	return (size() - first) / float64(steps)
}

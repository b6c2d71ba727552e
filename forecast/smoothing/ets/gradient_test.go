package ets_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

// TestGradient checks the backward pass against differences of the forward one, for every model.
func TestGradient(t *testing.T) {
	values := withGaps(demand(1, 70, 4), 0.06)
	values[0] = 100
	for _, region := range []ets.Region{ets.Usual, ets.Admissible} {
		for _, spec := range allSpecs() {
			s, err := ets.NewDeviance(ets.Model{Spec: spec, Period: 4, Region: region}, daily(values))
			if err != nil {
				t.Fatal(err)
			}
			x := make([]float64, s.Variables())
			for i := range x {
				x[i] = 0.3 + 0.02*float64(i%3)
			}
			got := make([]float64, len(x))
			if v := s.Value(x); math.IsInf(v, 0) || math.IsNaN(v) {
				t.Fatalf("%s: deviance %v", spec, v)
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
					t.Errorf("%s in region %d, variable %d: %v, by differences %v", spec, region, i, got[i], want)
				}
			}
		}
	}
}

// TestForecastable checks the recursion of Schur and Cohn against what it stands for: a disturbance of the states dies
// out, or not.
func TestForecastable(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	inside := 0
	for _, m := range []int{1, 4, 7} {
		for range 300 {
			spec := ets.Spec{Trend: ets.DampedTrend, Season: ets.AdditiveSeason}
			p := ets.Parameters{Alpha: 1.6 * random.Float64(), Beta: 0.8 * random.Float64(), Phi: 0.9}
			if m == 1 {
				spec.Season = ets.NoSeason
			} else {
				p.Gamma = 1.2 * random.Float64()
			}
			got, decay := ets.Forecastable(spec, p, m), ets.Decay(p, m)
			if math.Abs(decay) < 0.02 {
				continue
			}
			if got {
				inside++
			}
			if want := decay < 0; got != want {
				t.Errorf("period %d, %+v: %v, a disturbance grows by %v", m, p, got, decay)
			}
		}
	}
	if inside < 100 || inside > 800 {
		t.Errorf("%d of 900 forecastable: the test says little", inside)
	}
}

// TestUsualRegion shows why the usual region is checked, too: half of it is not forecastable.
func TestUsualRegion(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	spec := ets.Spec{Trend: ets.AdditiveTrend, Season: ets.AdditiveSeason}
	out := 0
	for range 2000 {
		p := ets.Parameters{Alpha: random.Float64(), Phi: 1}
		p.Beta, p.Gamma = p.Alpha*random.Float64(), (1-p.Alpha)*random.Float64()
		if !ets.Forecastable(spec, p, 12) {
			out++
		}
	}
	if out < 500 || out > 1500 {
		t.Errorf("%d of 2000 points are not forecastable, want about half", out)
	}
}

package ets

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// sampleOf is a positive seasonal series with a few gaps.
func sampleOf(t *testing.T, n int) sample {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, n)
	for i := range values {
		values[i] = 100 + float64(i) + 20*math.Sin(float64(i)*math.Pi/2) + 5*random.NormFloat64()
		if i%17 == 9 {
			values[i] = math.NaN()
		}
	}
	data, err := scaled(forecast.Series{Step: time.Hour, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGradient checks the backward pass against differences of the forward one, for every model.
func TestGradient(t *testing.T) {
	data := sampleOf(t, 70)
	specs := append(Specs(), Spec{Trend: DampedTrend, Season: MultiplicativeSeason})
	for _, region := range []Region{Usual, Admissible} {
		for _, spec := range specs {
			s, err := Model{Spec: spec, Period: 4, Region: region}.newSearch(data, newRoom(len(data.values)))
			if err != nil {
				t.Fatal(err)
			}
			s.unit = 0.05
			x := make([]float64, s.variables())
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
			spec := Spec{Trend: DampedTrend, Season: AdditiveSeason}
			p := Parameters{Alpha: 1.6 * random.Float64(), Beta: 0.8 * random.Float64(), Phi: 0.9}
			if m == 1 {
				spec.Season = NoSeason
			} else {
				p.Gamma = 1.2 * random.Float64()
			}
			s := &space{spec: spec, period: m, theta: make([]float64, 3*(m+2))}
			got, decay := s.forecastable(p), decay(p, m)
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

// decay is the logarithm of the growth per step of the means after a disturbance, when nothing but zeros is observed.
func decay(p Parameters, m int) float64 {
	s := state{level: 1, trend: 0.3, season: make([]float64, m)}
	if m > 1 {
		s.season[0] = 0.5
	}
	zeros := make([]float64, 200*m)
	trail := newTrail(len(zeros))
	size := func() float64 {
		trail.additive(p, &s, zeros)
		sum := 0.0
		for _, a := range trail.surprise {
			sum += math.Abs(a)
		}
		return math.Log(sum + 1e-300)
	}
	first := size()
	return (size() - first) / float64(len(zeros))
}

// TestUsualRegion shows why the usual region is checked, too: half of it is not forecastable.
func TestUsualRegion(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	s := &space{spec: Spec{Trend: AdditiveTrend, Season: AdditiveSeason}, period: 12, theta: make([]float64, 42)}
	out := 0
	for range 2000 {
		p := Parameters{Alpha: random.Float64(), Phi: 1}
		p.Beta, p.Gamma = p.Alpha*random.Float64(), (1-p.Alpha)*random.Float64()
		if !s.forecastable(p) {
			out++
		}
	}
	if out < 500 || out > 1500 {
		t.Errorf("%d of 2000 points are not forecastable, want about half", out)
	}
}

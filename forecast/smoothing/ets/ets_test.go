package ets_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/classic"
)

// allSpecs are the fifteen of the automatic choice and the three unstable ones.
func allSpecs() []ets.Spec {
	out := ets.Specs()
	for trend := ets.NoTrend; trend <= ets.DampedTrend; trend++ {
		out = append(out, ets.Spec{Trend: trend, Season: ets.MultiplicativeSeason})
	}
	return out
}

// known is a model with everything fixed.
func known(spec ets.Spec) ets.Model {
	m := ets.Model{Spec: spec, Period: 4, Start: &ets.States{Level: 100, Trend: 1}}
	m.Alpha, m.Beta, m.Gamma, m.Phi = new(0.4), new(0.1), new(0.3), new(0.9)
	switch spec.Season {
	case ets.AdditiveSeason:
		m.Start.Season = []float64{10, -20, 5, 5}
	case ets.MultiplicativeSeason:
		m.Start.Season = []float64{1.1, 0.8, 1.05, 1.05}
	case ets.NoSeason:
		m.Period = 0
	}
	return m
}

// TestMomentsAgainstPaths checks means and standard errors against simulated paths, over three seasons.
func TestMomentsAgainstPaths(t *testing.T) {
	values := []float64{112, 83, 105, 101, 118, 85, 110, 108, 121, 92}
	for _, spec := range ets.Specs() {
		for _, gap := range []int{0, 3} {
			model := known(spec)
			analytic, err := model.Estimate(daily(values))
			if err != nil {
				t.Fatal(err)
			}
			model.Simulation = ets.Simulation{Paths: 8000, Seed: 7}
			drawn, err := model.Estimate(daily(values))
			if err != nil {
				t.Fatal(err)
			}
			for range gap {
				analytic.Update(math.NaN())
				drawn.Update(math.NaN())
			}
			a, d := analytic.Forecast(12), drawn.Forecast(12)
			tolerance := 0.04
			if gap > 0 && spec.Error == ets.MultiplicativeError && spec.Season != ets.MultiplicativeSeason {
				tolerance = 0.15 // The means over the gap are not kept.
			}
			for i := range a.Point {
				what := fmt.Sprintf("%s, gap %d, step %d: ", spec, gap, i+1)
				relative(t, what+"standard error", d.StdErr[i], a.StdErr[i], tolerance)
				middle := 0.0
				for q := 0.005; q < 1; q += 0.01 {
					middle += d.Marginals.Quantile(i, q) / 100
				}
				if d := math.Abs(middle - a.Point[i]); d > 0.05*a.StdErr[i] {
					t.Errorf("%smean %v, want %v", what, middle, a.Point[i])
				}
			}
		}
	}
}

// TestClassicETS checks R's figures (package forecast 8.20, ets) of series that stand in the repository.
func TestClassicETS(t *testing.T) {
	for _, r := range []struct {
		series, method string
		period         int
		alpha, level   float64
		logLik, aicc   float64
	}{
		{"Nile", "ETS(M,N,N)", 0, 0, 0, 0, 1458.5519156063},
		{"LakeHuron", "ETS(A,N,N)", 0, 0.999899748952018, 580.38238900249, -195.338867356192, 396.933053861319},
		{"WWWusage", "ETS(A,Ad,N)", 0, 0, 0, 0, 718.634206204236},
		{"AirPassengers", "ETS(M,Ad,M)", 12, 0, 0, 0, 1400.63843247391},
	} {
		s, err := classic.Series(r.series)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := ets.Auto{Period: r.period}.Estimate(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := chosen.Likelihood().AICc(); got > r.aicc+0.01 {
			t.Errorf("%s: %s with AICc %.3f, R has %s with %.3f", r.series, chosen.Name(), got, r.method, r.aicc)
		}
		if r.alpha == 0 {
			continue
		}
		fixed, err := ets.Model{
			Spec: spec(t, r.method), Alpha: &r.alpha, Start: &ets.States{Level: r.level},
		}.Estimate(s)
		if err != nil {
			t.Fatal(err)
		}
		relative(t, r.series+": log-likelihood", fixed.Likelihood().Log, r.logLik, 1e-10)
	}
}

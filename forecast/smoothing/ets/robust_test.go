package ets_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
)

var (
	_ forecast.Model  = ets.Model{}
	_ forecast.Model  = ets.Auto{}
	_ forecast.Fitted = (*ets.Fitted)(nil)
	_ forecast.Fitted = (*ets.Chosen)(nil)
)

func TestHostileSeries(t *testing.T) {
	for _, s := range allSpecs() {
		modeltest.Test(t, ets.Model{Spec: s, Period: 12})
	}
	modeltest.Test(t, ets.Model{Spec: ets.Spec{Trend: ets.DampedTrend, Season: ets.AdditiveSeason}, Period: 40})
	modeltest.Test(t, ets.Model{Spec: ets.Spec{Trend: ets.AdditiveTrend}, Region: ets.Admissible})
	modeltest.Test(t, ets.Auto{})
	modeltest.Test(t, ets.Auto{Period: 7})
	modeltest.Test(t, ets.Auto{Period: 12, Candidates: ets.AdditiveErrors()})
	modeltest.Test(t, ets.Auto{Period: 12, Simulation: ets.Simulation{Paths: 50}})
}

// TestAutoAlwaysForecasts checks that the automatic choice has a forecast for every series with two observations.
func TestAutoAlwaysForecasts(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		s := daily(values)
		chosen, err := ets.Auto{Period: 12}.Estimate(s)
		switch {
		case errors.Is(err, forecast.ErrNotFinite):
		case s.Observed() < 2:
			if !errors.Is(err, forecast.ErrTooShort) {
				t.Errorf("%s: %v, want %v", name, err, forecast.ErrTooShort)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case chosen.Reason == "":
			t.Errorf("%s: no reason", name)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(4), uint8(3), modeltest.Fuzz(values))
	}
	specs := allSpecs()
	f.Fuzz(func(t *testing.T, period, which uint8, raw []byte) {
		values := modeltest.Values(raw)
		modeltest.Check(t, ets.Model{Spec: specs[int(which)%len(specs)], Period: int(period % 30)}, values)
		modeltest.Check(t, ets.Auto{Period: int(period % 30)}, values)
	})
}

func TestBadModels(t *testing.T) {
	s := daily(demand(1, 60, 6))
	negative := daily(append([]float64{-1}, s.Values...))
	season, both := ets.Spec{Season: ets.AdditiveSeason}, ets.Spec{Error: ets.MultiplicativeError}
	for name, c := range map[string]struct {
		model  forecast.Model
		series forecast.Series
		want   error
	}{
		"no period":              {ets.Model{Spec: season}, s, forecast.ErrParameter},
		"an unknown trend":       {ets.Model{Spec: ets.Spec{Trend: 7}}, s, forecast.ErrParameter},
		"an unknown error":       {ets.Model{Spec: ets.Spec{Error: -1}}, s, forecast.ErrParameter},
		"an unknown season":      {ets.Model{Spec: ets.Spec{Season: 3}}, s, forecast.ErrParameter},
		"alpha not a value":      {ets.Model{Alpha: new(math.NaN())}, s, forecast.ErrParameter},
		"a start without season": {ets.Model{Spec: season, Period: 6, Start: &ets.States{}}, s, forecast.ErrParameter},
		"an infinite start":      {ets.Model{Start: &ets.States{Level: math.Inf(1)}}, s, forecast.ErrParameter},
		"a negative value":       {ets.Model{Spec: both}, negative, forecast.ErrNotPositive},
		"less than two seasons":  {ets.Model{Spec: season, Period: 31}, s, forecast.ErrTooShort},
		"a negative period":      {ets.Auto{Period: -1}, s, forecast.ErrParameter},
		"one observation":        {ets.Auto{}, daily([]float64{1}), forecast.ErrTooShort},
	} {
		if _, err := c.model.Fit(c.series); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// demand draws a level, a season of the period and noise, all positive.
func demand(seed uint64, n, period int) []float64 {
	random := rand.New(rand.NewPCG(seed, 3))
	out := make([]float64, n)
	for t := range out {
		angle := 2 * math.Pi * float64(t) / float64(period)
		out[t] = (100 + 0.1*float64(t)) * (1 + 0.3*math.Sin(angle) + 0.05*random.NormFloat64())
	}
	return out
}

func withGaps(values []float64, share float64) []float64 {
	random := rand.New(rand.NewPCG(2, 2))
	out := append([]float64(nil), values...)
	for i := range out {
		if random.Float64() < share {
			out[i] = math.NaN()
		}
	}
	return out
}

func TestUpdateIsRefit(t *testing.T) {
	for _, spec := range allSpecs() {
		for _, share := range []float64{0, 0.3} {
			values := withGaps(demand(4, 60, 4), share)
			values[0] = 110
			model := known(spec)
			model.Simulation = ets.Simulation{}
			whole, err := model.Estimate(daily(values))
			if err != nil {
				t.Fatal(err)
			}
			part, err := model.Estimate(daily(values[:30]))
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range values[30:] {
				part.Update(y)
			}
			part.SetDeviation(whole.Deviation())
			a, b := whole.Forecast(12), part.Forecast(12)
			if !a.Start.Equal(b.Start) {
				t.Errorf("%s: starts %v and %v", spec, a.Start, b.Start)
			}
			for i := range a.Point {
				relative(t, spec.String()+": point", b.Point[i], a.Point[i], 1e-9)
				relative(t, spec.String()+": standard error", b.StdErr[i], a.StdErr[i], 1e-9)
			}
		}
	}
}

func TestScaleEquivariance(t *testing.T) {
	values := demand(5, 100, 12)
	base, err := ets.Auto{Period: 12}.Estimate(daily(values))
	if err != nil {
		t.Fatal(err)
	}
	want := base.Forecast(14)
	// Powers of two change no digit, so the search takes the very same path.
	for _, exponent := range []int{-900, -3, 10, 480} {
		changed := make([]float64, len(values))
		for i, v := range values {
			changed[i] = math.Ldexp(v, exponent)
		}
		chosen, err := ets.Auto{Period: 12}.Estimate(daily(changed))
		if err != nil {
			t.Fatal(err)
		}
		got := chosen.Forecast(14)
		for i := range want.Point {
			relative(t, "point", math.Ldexp(got.Point[i], -exponent), want.Point[i], 1e-12)
			relative(t, "standard error", math.Ldexp(got.StdErr[i], -exponent), want.StdErr[i], 1e-9)
		}
	}
}

// TestGapWidens checks that a forecast over a gap is the one from before it, and that an observation makes the errors
// shrink again.
func TestGapWidens(t *testing.T) {
	for _, spec := range ets.Specs() {
		fitted, err := known(spec).Estimate(daily(demand(6, 60, 4)))
		if err != nil {
			t.Fatal(err)
		}
		before := fitted.Forecast(20)
		for range 5 {
			fitted.Update(math.NaN())
		}
		after := fitted.Forecast(15)
		for i := range after.Point {
			relative(t, spec.String()+": point", after.Point[i], before.Point[i+5], 1e-9)
			tolerance := 1e-9
			if spec.Error == ets.MultiplicativeError && spec.Season != ets.MultiplicativeSeason {
				tolerance = 0.25 // The means over the gap are not kept.
			}
			relative(t, spec.String()+": standard error", after.StdErr[i], before.StdErr[i+5], tolerance)
		}
		fitted.Update(after.Point[0])
		if got := fitted.Forecast(5).StdErr[4]; !(got < after.StdErr[4]) {
			t.Errorf("%s: standard error %v after an observation, %v before it", spec, got, after.StdErr[4])
		}
	}
}

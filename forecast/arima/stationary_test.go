package arima_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

func TestDifferencesAgainstR(t *testing.T) {
	data := figures(t)
	for name, r := range data.Tests {
		values := data.Series[name].Values
		within(t, name+" KPSS", arima.KPSS(values), r.KPSS, 1e-9)
		if got := arima.DifferencesOf(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
	}
	for name, raw := range data.AutoARIMA {
		var r goldenDifferences
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		values := data.Series[name].Values
		if got := arima.SeasonalDifferencesOf(values, data.Series[name].Frequency); got != r.NSDiffs {
			t.Errorf("%s: %d seasonal differences, R %d", name, got, r.NSDiffs)
		}
		if got := arima.DifferencesOf(values, 2); got != r.NDiffs {
			t.Errorf("%s: %d differences, R %d", name, got, r.NDiffs)
		}
	}
}

func TestClassicDifferences(t *testing.T) {
	for _, want := range reference(t).KPSS {
		values := series(t, want.Series).Values
		within(t, want.Series+" KPSS", arima.KPSS(values), want.Statistic, 1e-9)
		if got := arima.DifferencesOf(values, 2); got != want.Differences {
			t.Errorf("%s: %d differences, R %d", want.Series, got, want.Differences)
		}
	}
	random, walk := rand.New(rand.NewPCG(1, 2)), make([]float64, 200)
	for i := 1; i < len(walk); i++ {
		walk[i] = walk[i-1] + random.NormFloat64()
	}
	if got := arima.DifferencesOf(walk, 2); got != 1 {
		t.Errorf("a random walk: %d differences, want 1", got)
	}
	// A scale or a shift of the values changes nothing.
	values := series(t, "AirPassengers").Values
	for _, scale := range []float64{1, 3e-200} {
		for i, v := range values {
			values[i] = scale * (v - 1000)
		}
		if got := arima.SeasonalDifferencesOf(values, 12); got != 1 {
			t.Errorf("AirPassengers times %v: %d seasonal differences, R 1", scale, got)
		}
	}
}

func TestDifferencesOfHostileValues(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		soundDifferences(t, name, values)
	}
}

func FuzzDifferences(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { soundDifferences(t, "fuzzed", modeltest.Values(raw)) })
}

func soundDifferences(t *testing.T, name string, values []float64) {
	t.Helper()
	statistic, d, seasonal := arima.KPSS(values), arima.DifferencesOf(values, 2), arima.SeasonalDifferencesOf(values, 7)
	if !(statistic >= 0) || math.IsInf(statistic, 0) || d < 0 || d > 2 || seasonal < 0 || seasonal > 1 {
		t.Errorf("%s: KPSS %v, %d differences, %d seasonal", name, statistic, d, seasonal)
	}
}

package ensemble_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// Office hours: eight of 24 steps have demand, the others none. Every quantile of a night is exactly 0, none of the day is,
// and the models of intermittent demand compete.
func TestNightsOfZeros(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 8))
	var values []float64
	for i := range 24 * 21 {
		y := 0.0
		if hour := i % 24; hour >= 9 && hour < 17 {
			y = 50 + 5*random.NormFloat64()
		}
		values = append(values, y)
	}
	fitted := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 24, Budget: brief}, values)
	direct := make([]float64, 24)
	for _, p := range []float64{0.1, 0.5, 0.9} {
		f := fitted.Forecast(24)
		quantiles := f.Quantile(p)
		fitted.QuantileTo(direct, p)
		if !slices.Equal(quantiles, direct) {
			t.Errorf("%v-quantiles %v, by QuantileTo %v", p, quantiles, direct)
		}
		for hour, q := range quantiles {
			if busy := hour >= 9 && hour < 17; busy != (q > 30) || !busy && (q != 0 || f.Point[hour] != 0) {
				t.Errorf("the %v-quantile at %d o'clock is %v, the point %v", p, hour, q, f.Point[hour])
			}
		}
	}
	if !slices.ContainsFunc(fitted.Reasons().Candidates, func(c ensemble.Candidate) bool { return c.Name == "TSB" }) {
		t.Error("no model of intermittent demand among the candidates")
	}
}

package innovations_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/innovations"
)

// TestSequence lets a surprise of 1 run through the states themselves.
func TestSequence(t *testing.T) {
	g := innovations.Gains{Level: 0.3, Trend: 0.1, Season: 0.2, Phi: 0.9}
	const period = 4
	level, trend := g.Level, g.Trend
	season := [period]float64{g.Season}
	responses := innovations.NewResponse(g, period)
	for j := 1; j <= 13; j++ {
		trend *= g.Phi
		level += trend
		want := level + season[j%period]
		if got := responses.Next(); math.Abs(got-want) > 1e-12 {
			t.Errorf("response %d: %v, want %v", j, got, want)
		}
	}
}

package simulate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// The maximum of a window is that of a plain loop over it.
func TestMaxAgainstLoop(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for window := 1; window < 40; window += 3 {
		p := simulate.NewMax(time.Duration(window)*time.Second, time.Second)
		var seen []float64
		for i := range 500 {
			v := math.Round(10 * random.Float64())
			if random.IntN(4) == 0 {
				v = math.NaN()
			}
			seen = append(seen, v)
			want := math.NaN()
			for _, x := range seen[max(0, i+1-window):] {
				if !math.IsNaN(x) && !(x <= want) {
					want = x
				}
			}
			got := p.Serve(simulate.Observation{Demand: v})
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Fatalf("window %d, step %d: %v, want %v", window, i, got, want)
			}
		}
	}
}

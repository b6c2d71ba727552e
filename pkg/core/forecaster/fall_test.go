package forecaster_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// byMinutes has seen three days of a demand by the minute: 200, with hardly any noise.
func byMinutes(settings decide.Settings) *forecaster.Forecaster {
	c := config()
	c.Step, c.Window, c.Settings = time.Minute, 4*time.Minute, settings
	c.Settings.Window = c.Window
	if settings.Late > 0 {
		c.Settings.Target, c.Settings.Lead = 10, 3*time.Minute
		c.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	past := history(3*1440, func(int) float64 { return 200 + rng.NormFloat64() })
	past.Step = c.Step
	return forecaster.New(c, past)
}

func served(f *forecaster.Forecaster) float64 {
	var out [1]float64
	f.ValuesTo(out[:])
	return out[0]
}

// A fall to two fifths is doubted for two minutes. Then a quantile is served times the share that is left, and an objective's value once
// the fall has lasted for the lead window. What falls to nothing may be an outage, and is held.
func TestAFallIsFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		settings decide.Settings
		to       float64
		// follows is after how many minutes the value falls, 0 for never within the ten.
		follows int
	}{
		"a quantile":           {decide.Settings{Quantile: 0.95, Mode: decide.Floor}, 80, 3},
		"an objective":         {decide.Settings{Late: 0.01, Mode: decide.Floor}, 80, 4},
		"a quantile, outage":   {decide.Settings{Quantile: 0.95, Mode: decide.Floor}, 0, 0},
		"an objective, outage": {decide.Settings{Late: 0.01, Mode: decide.Floor}, 0, 0},
	} {
		f := byMinutes(c.settings)
		before := served(f)
		for minute := 1; minute < 10; minute++ {
			f.Step(plain(c.to))
			lows, doubted := f.Fallen()
			if len(lows) != minute || doubted != (minute <= int(demand.FallDoubt/time.Minute)) {
				t.Fatalf("%s: after %d minutes %d lows are held back, doubted: %t", name, minute, len(lows), doubted)
			}
			want := before
			if c.follows > 0 && minute >= c.follows {
				want *= c.to / 200
			}
			if got := served(f); math.Abs(got-want) > 0.05*want || got < c.to {
				t.Errorf("%s: after %d minutes %v is served, want about %v", name, minute, got, want)
			}
		}
		span, known := f.CurrentSpan(f.ReadUntil())
		if outage := known && span.Cause == demand.Outage; outage != (c.to == 0) {
			t.Errorf("%s: the newest span is %+v", name, span)
		}
	}
}

// A demand that recovers leaves what a gap would have left, whether it was followed or not.
func TestAFallThatRecoversIsAGap(t *testing.T) {
	for _, settings := range []decide.Settings{
		{Quantile: 0.95, Mode: decide.Floor}, {Late: 0.01, Mode: decide.Floor},
	} {
		for _, minutes := range []int{1, 2, 5, 9} {
			fell := byMinutes(settings)
			gap := fell.Clone()
			for range minutes {
				fell.Step(plain(60))
				gap.Step(plain(math.NaN()))
			}
			for i := range 60 {
				fell.Step(plain(200))
				gap.Step(plain(200))
				if a, b := served(fell), served(gap); a != b {
					t.Errorf("%d minutes, %d minutes after them: %v is served, after a gap %v", minutes, i+1, a, b)
					break
				}
			}
		}
	}
}

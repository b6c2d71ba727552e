package forecaster_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const minutesOfDay = 24 * 60

// shifts are what can happen to a usual demand, minutes after it begins.
var shifts = map[string]func(minute int) float64{
	"half of the traffic leaves":     func(m int) float64 { return after(m, 0.5) },
	"nine tenths of it leave":        func(m int) float64 { return after(m, 0.1) },
	"a hundredfold for five minutes": func(m int) float64 { return during(m, 5, 100) },
	"a load test of 45 minutes":      func(m int) float64 { return during(m, 45, 10) },
}

func after(minute int, factor float64) float64 { return during(minute, math.MaxInt32, factor) }

func during(minute, length int, factor float64) float64 {
	if minute >= 0 && minute < length {
		return factor
	}
	return 1
}

// limits are the most that may be served some minutes after a shift begins, as a multiple of what would be served without it, of a
// demand of which so much is left.
var limits = map[string]struct {
	left       float64
	most       map[int]float64
	candidates bool // also of what is served to who asks for a candidate
}{
	"half of the traffic leaves":     {0.5, map[int]float64{67: 1.4, 6 * 60: 1.3, 12 * 60: 1.3, 24 * 60: 1.3}, true},
	"nine tenths of it leave":        {0.1, map[int]float64{67: 2, 6 * 60: 2, 12 * 60: 2, 24 * 60: 1.5}, true},
	"a hundredfold for five minutes": {1, map[int]float64{5 + 20: 3, 5 + 40: 3, 5 + 60: 3, 12 * 60: 1.2}, true},
	"a load test of 45 minutes": {
		1,
		map[int]float64{24*60 - 5: 1.5, 24 * 60: 1.5, 24*60 + 20: 1.5, 24*60 + 44: 1.5},
		false,
	},
}

// When traffic leaves, and after what comes once, capacity follows: of daily and of noisy demand, by day and at night, whichever
// candidate serves.
func TestCapacityFollowsAShift(t *testing.T) {
	candidates := []string{
		windowpeak.LastValue, windowpeak.LastSeason, windowpeak.LastWeek, windowpeak.HoltWinters, windowpeak.ARIMA,
	}
	c := asked(candidates...)
	c.Step = time.Minute
	c.Settings.Lead = 5 * time.Minute
	c.Window = leadtime.Window(c.Settings.Lead)
	for name, swing := range map[string]float64{"daily": 0.6, "noisy": 0} {
		for _, hour := range []int{10, 18} {
			begin := 9*minutesOfDay + hour*60
			rng := rand.New(rand.NewPCG(1, uint64(hour)))
			usual := history(begin+25*60, func(minute int) float64 {
				day := 2 * math.Pi * float64(minute) / minutesOfDay
				return 200 * (1 + swing*math.Sin(day)) * math.Exp((0.15-0.2*swing)*rng.NormFloat64())
			})
			past := history(begin, func(i int) float64 { return usual.Values[i] })
			past.Step = time.Minute
			before := forecaster.New(c, past)
			for what, shift := range shifts {
				t.Run(fmt.Sprintf("%s at %d:00, %s", name, hour, what), func(t *testing.T) {
					f, undisturbed := before.Clone(), before.Clone()
					for m, v := range usual.Values[begin:] {
						undisturbed.Step(plain(v))
						f.Step(plain(v * shift(m)))
						most, judged := limits[what].most[m]
						if !judged {
							continue
						}
						asked := []string{""}
						if limits[what].candidates {
							asked = append(asked, candidates...)
						}
						e, without := describe(f), describe(undisturbed)
						for _, name := range asked {
							if name != "" &&
								(len(candidate(t, e, name).Windows) == 0 || len(candidate(t, without, name).Windows) == 0) {
								continue // The last season has a dip of the noise at this time, which counts as a gap.
							}
							want := limits[what].left * answer(t, without, name)
							if got := answer(t, e, name) / want; got > most {
								t.Errorf("after %d minutes %q serves %.2f times what is left, want at most %v", m,
									name, got, most)
							}
						}
					}
				})
			}
		}
	}
}

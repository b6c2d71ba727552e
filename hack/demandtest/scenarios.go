// Package demandtest has demand for tests and benchmarks to play: rare histories that a forecast must survive (launches, single
// bad samples, single bursts, steps, outages), each of which depends on its name only, and traces that were recorded.
package demandtest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Step of all histories.
const Step = 30 * time.Second

// Scenario is a made history.
type Scenario struct {
	Name string
	// Event is when the event begins, and Over when it ends, after the start; a launch does not end.
	Event, Over time.Duration
	// Length of the history.
	Length time.Duration
	// at is the demand without noise at a time after the start.
	at func(time.Duration) float64
}

// Start of all histories.
func Start() time.Time { return time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC) }

// Demand is the history, with 3 % of noise.
func (s Scenario) Demand() forecast.Series {
	out := forecast.Series{Start: Start(), Step: Step, Values: make([]float64, int(s.Length/Step))}
	noise := rand.New(rand.NewPCG(17, 4)) //nolint:gosec // The same in every run.
	for i := range out.Values {
		out.Values[i] = s.at(time.Duration(i)*Step) * math.Max(0, 1+0.03*noise.NormFloat64())
	}
	return out
}

// Scenarios lists them, in a fixed order.
func Scenarios() []Scenario {
	const day = 24 * time.Hour
	out := []Scenario{
		launch("a launch after an hour at 0", time.Hour, 0),
		launch("a launch after 6 hours at 0", 6*time.Hour, 0),
		launch("a launch after a day at 0", day, 0),
		launch("a launch after 2 hours at 3", 2*time.Hour, 3),
		launch("a launch after 2 hours at 14.5", 2*time.Hour, 14.5),
		multiplied("one sample × 10", 2*day, Step, 10),
		multiplied("one sample × 100", 2*day, Step, 100),
		multiplied("one sample × 1,000,000", 2*day, Step, 1e6),
		multiplied("one sample × 100 in a young history", 3*time.Hour, Step, 100),
		multiplied("× 100 for four minutes in a young history", 3*time.Hour, 4*time.Minute, 100),
		multiplied("× 100 for five minutes", 2*day, 5*time.Minute, 100),
		multiplied("× 3 for ten minutes", 2*day, 10*time.Minute, 3),
		multiplied("× 5 for six hours", 2*day, 6*time.Hour, 5),
		multiplied("an outage of half an hour", 2*day, 30*time.Minute, 0),
		multiplied("no sample for half an hour", 2*day, 30*time.Minute, math.NaN()),
		repeated("one sample × 100 every 6 hours", 2*day, Step, 100),
		repeated("× 20 for five minutes every 6 hours", 2*day, 5*time.Minute, 20),
	}
	return append(out, flashCrowd("a flash crowd × 8 within five minutes", 2*day, 8))
}

// calmDemand is the ordinary demand.
const calmDemand = 1500

// launch returns a workload that idles until it goes live.
func launch(name string, idle time.Duration, before float64) Scenario {
	const live = 1450
	return Scenario{
		Name: name, Event: idle, Over: idle + 4*time.Hour, Length: idle + 4*time.Hour,
		at: func(t time.Duration) float64 {
			if t < idle {
				return before
			}
			return live
		},
	}
}

// multiplied returns a calm demand that is multiplied by a factor for a while, followed by half a day of calm demand.
func multiplied(name string, before, lasts time.Duration, factor float64) Scenario {
	return Scenario{
		Name: name, Event: before, Over: before + lasts, Length: before + lasts + 12*time.Hour,
		at: func(t time.Duration) float64 {
			if t >= before && t < before+lasts {
				return calmDemand * factor
			}
			return calmDemand
		},
	}
}

// repeated returns a calm demand that is multiplied by a factor every six hours.
func repeated(name string, before, lasts time.Duration, factor float64) Scenario {
	const every, count = 6 * time.Hour, 4
	return Scenario{
		Name: name, Event: before, Over: before + (count-1)*every + lasts, Length: before + count*every,
		at: func(t time.Duration) float64 {
			if t >= before && (t-before)%every < lasts {
				return calmDemand * factor
			}
			return calmDemand
		},
	}
}

// flashCrowd returns a demand that grows to a multiple of the calm demand within five minutes and fades over a few hours.
func flashCrowd(name string, before time.Duration, factor float64) Scenario {
	const rise, fade = 5 * time.Minute, 40 * time.Minute
	return Scenario{
		Name: name, Event: before, Over: before + rise + 5*fade, Length: before + 12*time.Hour,
		at: func(t time.Duration) float64 {
			switch {
			case t < before:
				return calmDemand
			case t < before+rise:
				return calmDemand * (1 + (factor-1)*float64(t-before)/float64(rise))
			}
			return calmDemand * (1 + (factor-1)*math.Exp(-float64(t-before-rise)/float64(fade)))
		},
	}
}

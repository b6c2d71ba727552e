package objective

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// accounts are the lateness with the first autoscaler, of the value that this replay serves for a goal. The goal's target is corrected
// by it.
type accounts struct {
	simulated *sim.Simulation
	// period over which the target is corrected.
	period time.Duration
	// served are the values of the coming steps, the next one first; values are those of the current step.
	served []float64
	values []float64
	hours  series.Ring[lateHour]
}

// lateHour is the demand of an hour in replica-hours, what was late of it, and all of it if the hour is bad.
type lateHour struct{ arrived, late, bad float64 }

func newAccounts(c Config, asked Goal) (*accounts, error) {
	spec := c.Autoscalers[0].Spec
	spec.Deadline = c.Deadline
	played, err := sim.NewSimulation(spec, 1, c.Start, c.Step)
	period := c.period()
	if asked.BadHours { // The replay's first days know less than Forewarm did then.
		period = min(period, latePeriod)
	}
	return &accounts{
		simulated: played,
		period:    period,
		served:    slices.Repeat([]float64{math.NaN()}, c.Delay),
		values:    []float64{math.NaN()},
		hours:     series.NewGrowingRing[lateHour](int(period / time.Hour)),
	}, err
}

// serve sets the value of the next step: the value found now is served after the delay.
func (a *accounts) serve(value float64) {
	a.served = append(a.served, value)
	a.values[0] = a.served[0]
	a.served = append(a.served[:0], a.served[1:]...)
}

// play plays the step that has ended.
func (a *accounts) play(arrived, deferrable float64) {
	a.simulated.Defer(deferrable)
	a.simulated.Play(a.values, arrived)
}

func (a *accounts) hourEnded() bool { return a.simulated.FullHour() }

// endHour records the hour that has ended.
func (a *accounts) endHour() {
	s := a.simulated.Score()
	a.hours.Grow(1)
	a.hours.Push(lateHour{s.Arrived, s.Late[0], badPart(s.Arrived, s.Late[0])})
	a.simulated.Reset()
}

// total is the sum of the hours kept.
func (a *accounts) total() (sum lateHour, over time.Duration) {
	for _, h := range a.hours.All() {
		sum.arrived += h.arrived
		sum.late += h.late
		sum.bad += h.bad
	}
	return sum, time.Duration(a.hours.Len()) * time.Hour
}

// part is the demand that a goal limits.
func (h lateHour) part(asked Goal) float64 {
	if asked.BadHours {
		return h.bad
	}
	return h.late
}

// badPart is the demand of an hour if the hour is bad, else 0.
func badPart(arrived, late float64) float64 {
	if sim.IsBadHour(arrived, late) {
		return arrived
	}
	return 0
}

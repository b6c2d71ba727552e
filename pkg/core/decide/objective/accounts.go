package objective

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// accounts are the lateness and cost with the first autoscaler over the budget's period, of the value served for a goal.
type accounts struct {
	simulated *sim.Simulation
	// period of the budget.
	period time.Duration
	// served are the values of the coming steps, the next one first; values are those of the current step.
	served []float64
	values []float64
	hours  series.Ring[accountHour]
	// peak demand of the current hour.
	peak float64
}

// accountHour holds the sums of one hour.
type accountHour struct {
	Account

	capped, peak float64
	// deferrable work, and that which missed its deadline.
	deferrable, missed float64
}

func newAccounts(c Config) (*accounts, error) {
	spec := c.Autoscalers[0].Spec
	spec.Deadline = c.Deadline
	played, err := sim.NewSimulation(spec, 1, c.Start, c.Step)
	period := c.period()
	return &accounts{
		simulated: played,
		period:    period,
		served:    slices.Repeat([]float64{math.NaN()}, c.Delay),
		values:    []float64{math.NaN()},
		hours:     series.NewGrowingRing[accountHour](int(period / time.Hour)),
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
	if arrived > a.peak {
		a.peak = arrived
	}
}

func (a *accounts) hourEnded() bool { return a.simulated.FullHour() }

// endHour records the hour that has ended.
func (a *accounts) endHour() {
	s := a.simulated.Score()
	a.hours.Grow(1)
	a.hours.Push(accountHour{
		Account: Account{
			Arrived: s.Arrived,
			Late:    s.Late[0],
			Bad:     badPart(s.Arrived, s.Late[0]),
			Paid:    s.Paid[0],
		},
		capped:     s.Capped[0],
		peak:       a.peak,
		deferrable: s.Deferrable,
		missed:     s.Missed,
	})
	a.simulated.Reset()
	a.peak = 0
}

// total is the sum of the hours kept.
func (a *accounts) total() (sum accountHour, over time.Duration) {
	for _, h := range a.hours.All() {
		sum.Account = sum.plus(h.Account)
		sum.capped += h.capped
		sum.deferrable += h.deferrable
		sum.missed += h.missed
		sum.peak = math.Max(sum.peak, h.peak)
	}
	return sum, time.Duration(a.hours.Len()) * time.Hour
}

// badPart is the demand of an hour if the hour is bad, else 0.
func badPart(arrived, late float64) float64 {
	if sim.IsBadHour(arrived, late) {
		return arrived
	}
	return 0
}

func (a Account) plus(b Account) Account {
	return Account{Arrived: a.Arrived + b.Arrived, Late: a.Late + b.Late, Bad: a.Bad + b.Bad, Paid: a.Paid + b.Paid}
}

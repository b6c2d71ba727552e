package objective

import (
	"math"
	"slices"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// AssumedTarget is the assumed target of the previous HPA if it is not specified, as a share of what a replica sustains.
const AssumedTarget = 0.7

// targetShares are the targets from which the best one is selected in hindsight, as shares of what a replica sustains. The last one is
// the target of an autoscaler that reads a Forecast.
var targetShares = [...]float64{.4, .5, .6, .7, .8, .9, 1} //nolint:gochecknoglobals // A constant table.

const rivalCount = 1 + len(targetShares)

// rivals are HPAs that read the observed demand, with the stock scale-down: the one that the workload had before, and the same with
// each of the targetShares. They do not depend on any goal.
type rivals struct {
	simulated *sim.Simulation
	// shares of a replica's capacity that are the targets: that of before, then the targetShares.
	shares [rivalCount]float64
	// values of the current step. An HPA whose target is half a replica's capacity does what one does that reads twice the demand.
	values []float64
	hours  series.Ring[rivalHour]
}

// rivalHour holds the late demand and the replica-hours of one hour.
type rivalHour struct{ late, paid [rivalCount]float32 }

func newRivals(c Config, hours int) (*rivals, error) {
	spec := c.Autoscalers[0].Spec
	out := &rivals{
		values: slices.Repeat([]float64{math.NaN()}, rivalCount),
		hours:  series.NewGrowingRing[rivalHour](hours),
	}
	out.shares[0] = AssumedTarget
	if c.Baseline.Target > 0 {
		out.shares[0] = c.Baseline.Target / spec.Capacity
	}
	copy(out.shares[1:], targetShares[:])
	spec.HPA.Behavior, spec.PassDeadBand = nil, false
	if c.Baseline.Min > 0 {
		spec.HPA.Min = min(c.Baseline.Min, spec.HPA.Max)
	}
	spec.HPA.Metrics = []hpa.Metric{spec.HPA.Metrics[0]}
	spec.HPA.Metrics[0].Target = int64(math.Round(1000 * spec.Capacity))
	var err error
	out.simulated, err = sim.NewSimulation(spec, rivalCount, c.Start, c.Step)
	return out, err
}

// observe sets the demand that the HPAs read in the next step.
func (r *rivals) observe(demand float64) {
	for i, share := range r.shares {
		r.values[i] = demand / share
	}
}

// endHour records the clock hour that has ended, unless it is a part of one.
func (r *rivals) endHour(whole bool) {
	var one rivalHour
	s := r.simulated.Score()
	for i := range rivalCount {
		one.late[i], one.paid[i] = float32(s.Late[i]), float32(s.Paid[i])
	}
	r.simulated.Reset()
	if whole {
		r.hours.Grow(1)
		r.hours.Push(one)
	}
}

// Alternative is an HPA on the observed demand, and what it came to.
type Alternative struct {
	Account

	// Target is the demand for each replica, in the demand's unit.
	Target float64
}

// total is what all of them come to over the hours of what was served.
func (r *rivals) total(served *past, log *hourLog, capacity float64) [rivalCount]Alternative {
	var out [rivalCount]Alternative
	for i := range out {
		out[i] = Alternative{Account{Arrived: served.Arrived, Judged: served.Judged}, r.shares[i] * capacity}
	}
	for ago := served.hours - 1; ago >= 0; ago-- {
		h, demand := r.hours.Ref(ago), log.ring.Ref(ago)
		for i := range out {
			out[i].Late += float64(h.late[i])
			out[i].ReplicaHours += float64(h.paid[i])
			if demand.judged && sim.IsBadHour(demand.arrived, float64(h.late[i])) {
				out[i].Bad += demand.arrived
				out[i].BadHours++
			}
		}
	}
	return out
}

// bestTarget is the index of the cheapest at a price or else with no more of what the goal limits than a limit or, where there is none,
// of the one with the least of it.
func bestTarget(all []Alternative, goal Goal, limit float64) int {
	cost := func(r Alternative) (late, paid float64) {
		if goal.Price > 0 {
			return 0, r.ReplicaHours + goal.Price*r.Late
		}
		return math.Max(0, r.share(goal)-limit), r.ReplicaHours
	}
	best := 0
	for i := range all {
		late, paid := cost(all[i])
		if bestLate, bestPaid := cost(all[best]); late < bestLate || late == bestLate && paid <= bestPaid {
			best = i
		}
	}
	return best
}

// alternatives are the other autoscalers, over the same hours as what was served for the first goal, and the index of the best target.
func (o *Calibrator) alternatives(served *past) (all [rivalCount]Alternative, best int) {
	goal := o.goals[0].goal
	all = o.rivals.total(served, &o.published.hours, o.config.Autoscalers[0].Spec.Capacity)
	return all, bestTarget(all[:], goal, math.Max(goal.Late, served.share(goal)))
}

// setRivals adds the accounts of the rivals to a report.
func (r *Report) setRivals(all [rivalCount]Alternative, best int, before decide.Baseline) {
	r.Before, r.BeforeAssumed = all[0], !(before.Target > 0)
	r.Hindsight = all[best]
	r.Observed = all[rivalCount-1].Account
}

package compare

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// plannedPool is a pool whose members are alike: it holds the planned capacity, and has the values that Forewarm serves with it. It
// is the simulate.Pool of one run.
type plannedPool struct {
	// pool is what the user asks for, with the lead times that are planned with.
	pool  warmpool.Pool
	alike shiftedMembers
	// windows that were read.
	windows *windowPeaks
	// near are the values that forewarm serves at every sync where it looks ahead by the lead time of a pod, and far
	// where it must by that of a node, too.
	near, far []float64
	// from is when refreshes begin to be counted.
	from time.Time

	memory  warmpool.Memory
	members []warmpool.Member
	chunks  int
	covers  bool
	tally   PoolTally
	// budgetSpent is true if the budget was ever spent, warm-up included: if not, a larger one changes nothing.
	budgetSpent bool
}

// PoolTally counts refreshes: all, those in which the pool covered its members, in which it fell back on what is held without
// a forecast, and in which its budget was spent.
type PoolTally struct {
	All, Covered, FellBack, OverBudget int
}

// Share is a part of all refreshes.
func (t *PoolTally) Share(of int) float64 {
	if t.All == 0 {
		return 0
	}
	return float64(of) / float64(t.All)
}

// newPlannedPool returns the pool, empty. Its members are like one of them, but for what changes from step to step.
func newPlannedPool(k plannedPool, like warmpool.Member) *plannedPool {
	for i := range k.alike.Count {
		m := like
		m.Name += "-" + string(rune('a'+i))
		k.members = append(k.members, m)
	}
	return &k
}

// Hold plans by what is known and returns the places to hold. A replica that takes several chunks finds a place where there are as
// many.
func (k *plannedPool) Hold(at time.Time, all []sim.Placement) int {
	i := int(at.Sub(k.windows.demand.Start) / sync)
	for j := range k.members {
		m := &k.members[j]
		m.Placed, m.Waiting = all[j].Placed, all[j].Waiting
		known := k.alike.step(j, i)
		m.Outlook = k.windows.outlook(at, time.Duration(known)*sync)
		m.Outlook.Served = k.value(known)
	}
	plan, memory := k.memory.Plan(at, k.pool, k.members, k.capacity(all[0].Held))
	k.memory, k.covers, k.chunks = memory, plan.Covers, plan.Want
	k.budgetSpent = k.budgetSpent || plan.State == warmpool.OverBudget
	if !at.Before(k.from) {
		k.tally.count(&plan)
	}
	return k.places()
}

// places of the chunks that were asked for.
func (k *plannedPool) places() int {
	return int(float64(k.chunks)/k.members[0].Chunks + roundingError)
}

// capacity is what is held in chunks: as many as were asked for, where all of their places are there.
func (k *plannedPool) capacity(held int) warmpool.Capacity {
	out := warmpool.Capacity{Held: k.chunks, Ready: k.chunks}
	if held < k.places() {
		out.Ready = int(float64(held)*k.members[0].Chunks + roundingError)
	}
	return out
}

func (t *PoolTally) count(p *warmpool.Plan) {
	t.All++
	if p.Covers {
		t.Covered++
	}
	switch p.State {
	case warmpool.FallingBack:
		t.FellBack++
	case warmpool.OverBudget:
		t.OverBudget++
	case warmpool.Ready, warmpool.Filling:
	}
}

// value looks as far ahead as the pool makes necessary.
func (k *plannedPool) value(step int) float64 {
	if k.covers {
		return k.near[step]
	}
	return k.far[step]
}

// Policy returns the policy of a member: what Forewarm serves with the pool.
func (k *plannedPool) Policy(member int) simulate.Policy { //nolint:ireturn // What a simulate.PolicyRun holds.
	return &memberPolicy{pool: k, member: member}
}

type memberPolicy struct {
	pool         *plannedPool
	member, next int
}

// Serve is the value for the coming refresh.
func (s *memberPolicy) Serve(simulate.Observation) float64 {
	v := s.pool.value(s.pool.alike.step(s.member, s.next))
	s.next++
	return v
}

// fixedPlaces holds a number of places at all times.
type fixedPlaces int

// Hold is the number.
func (s fixedPlaces) Hold(time.Time, []sim.Placement) int { return int(s) }

// shiftedMembers are members of a pool of which one history is known: the others are taken to be like it, each a whole number of
// days apart. Their days have the same shape and their bursts come at different times. Where a member's history ends, it
// goes on with the beginning: what was forecast moves with the demand, so nothing is known there that was not.
type shiftedMembers struct {
	// Count is how many there are.
	Count int
	// from is where the days begin that go round, in steps: before it the one member stays as it was. cycle is their length,
	// and day that of one.
	from, cycle, day int
}

// newShiftedMembers has as many members as are wanted and as there are whole days from a step of the history on, one at least, at
// most so many as can be played in seconds. The history is of n steps.
func newShiftedMembers(wanted, n, from int) shiftedMembers {
	perDay := int(day / sync)
	days := max(0, n-from) / perDay
	return shiftedMembers{Count: max(1, min(wanted, days, maxMembers)), from: from, cycle: days * perDay, day: perDay}
}

// maxMembers bounds those that are played: a plan takes the longer the more there are.
const maxMembers = 8

// Steps is how many are played of n: whole days, where there is more than one member.
func (a shiftedMembers) Steps(n int) int {
	if a.Count == 1 {
		return n
	}
	return a.from + a.cycle
}

// step is which of the history's a member plays at a step.
func (a shiftedMembers) step(member, i int) int {
	if member == 0 {
		return i
	}
	since := (i - a.from + member*a.day) % a.cycle
	if since < 0 {
		since += a.cycle
	}
	return a.from + since
}

// Values is what a member has of values with one for each step.
func (a shiftedMembers) Values(member int, values []float64) []float64 {
	n := a.Steps(len(values))
	if member == 0 {
		return values[:n]
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = values[a.step(member, i)]
	}
	return out
}

// Series is a member's demand.
func (a shiftedMembers) Series(member int, s forecast.Series) forecast.Series {
	s.Values = a.Values(member, s.Values)
	return s
}

// recentStep is the grid on which the last day is kept.
const recentStep = 5 * time.Minute

// windowPeaks are the distributions of the maximum of a demand over windows ahead, at every Step of it, as the server's forecaster
// has them then.
type windowPeaks struct {
	// demand is the mean of every Step.
	demand forecast.Series
	// points are the means of every point of it.
	points []float64
	// rows have the distributions that are known at the end of each step.
	rows [][]windowpeak.Window
}

// newWindowPeaks has what was known at the beginning of the demand and after every Step of it. The step of the demand is a whole
// part of Step and it has no gaps.
func newWindowPeaks(demand forecast.Series, known [][]windowpeak.Window) *windowPeaks {
	return &windowPeaks{
		demand: meansOver(demand, Step),
		points: meansOver(demand, recentStep).Values,
		rows:   known[min(1, len(known)):],
	}
}

// meansOver has the means of a demand over every step; what is left over at its end is not complete, and left out.
func meansOver(s forecast.Series, step time.Duration) forecast.Series {
	n := int(step / s.Step)
	out := forecast.Series{Start: s.Start, Step: step, Values: make([]float64, s.Len()/n)}
	for i := range out.Values {
		for _, v := range s.Values[i*n : (i+1)*n] {
			out.Values[i] += v / float64(n)
		}
	}
	return out
}

// outlook is what is known after so much of the demand, said at a time: a member whose history is another day's is planned
// for together with the others.
func (w *windowPeaks) outlook(at time.Time, after time.Duration) warmpool.Outlook {
	i := int(after/Step) - 1
	if after < day || i >= len(w.rows) || len(w.rows[i]) == 0 {
		return warmpool.Outlook{Unreliable: "still warming up"}
	}
	return warmpool.Outlook{Observed: w.observed(i), Windows: w.rows[i], Recent: w.recent(at, after)}
}

// observed is the mean of the minute that ends with a step.
func (w *windowPeaks) observed(i int) float64 {
	const minute = int(time.Minute / Step)
	from, sum := max(0, i+1-minute), 0.0
	for _, v := range w.demand.Values[from : i+1] {
		sum += v
	}
	return sum / float64(i+1-from)
}

// recent is the demand of the last day in points, as in the forecaster's outlook: the newest point is complete.
func (w *windowPeaks) recent(at time.Time, after time.Duration) forecast.Series {
	to := min(int(after/recentStep), len(w.points))
	from := max(0, to-int(day/recentStep))
	return forecast.Series{
		Start: at.Truncate(recentStep).
			Add(-time.Duration(to-from) * recentStep),
		Step:   recentStep,
		Values: w.points[from:to],
	}
}

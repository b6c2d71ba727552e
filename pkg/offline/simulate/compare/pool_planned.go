package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// plannedPool is a pool whose members are alike. It holds the planned capacity, and has the values that Forewarm serves with it. It is the
// simulate.Pool of one run.
type plannedPool struct {
	// pool is the configured pool, with the lead times that are used for planning.
	pool  warmpool.Pool
	alike shiftedMembers
	// windows are the window peaks that the plan uses.
	windows *windowPeaks
	// near has the values that Forewarm serves at every sync if it looks ahead by the lead time of a pod. far has those that it serves if it
	// also looks ahead by the lead time of a node.
	near, far []float64
	// from is the time from which refreshes are counted.
	from time.Time

	memory  warmpool.Memory
	members []warmpool.Member
	chunks  int
	covers  bool
	tally   PoolTally
	// budgetSpent is true if the budget was ever used up, including during the warm-up. If it is false, a larger budget makes no difference.
	budgetSpent bool
}

// PoolTally counts refreshes: all refreshes, refreshes in which the pool covered its members, refreshes in which it held its
// fallback, and refreshes in which its budget was spent.
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

// newPlannedPool returns an empty pool. Its members are copies of one member, apart from the values that change from step to step.
func newPlannedPool(k plannedPool, like warmpool.Member) *plannedPool {
	for i := range k.alike.Count {
		m := like
		m.Name += "-" + string(rune('a'+i))
		k.members = append(k.members, m)
	}
	return &k
}

// Hold plans with what is known at a time and returns the number of places to hold. A place has as many chunks as a replica
// takes.
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

// places returns how many replicas fit into the requested chunks.
func (k *plannedPool) places() int {
	return int(float64(k.chunks)/k.members[0].Chunks + roundingError)
}

// capacity returns the capacity in chunks. If all places exist, this is the number of requested chunks.
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

// value returns the value that Forewarm serves. It looks as far ahead as the pool makes necessary.
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

package compare

import (
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// plannedConfig is a pool whose members are alike, and what forewarm serves of one.
type plannedConfig struct {
	// Pool is what the user asks for, with the lead times that are planned with.
	Pool warmpool.Pool
	// Member is one of them, but for what changes from step to step.
	Member  warmpool.Member
	Members shiftedMembers
	// Windows that were read.
	Windows *windowPeaks
	// Near are the values that forewarm serves at every refresh where it looks ahead by the lead time of a pod, and Far
	// where it must by that of a node, too.
	Near, Far []float64
	// Refresh is the time between two values; From is when refreshes begin to be counted.
	Refresh time.Duration
	From    time.Time
}

// plannedPool holds the planned capacity, and has the values that Forewarm serves with it. It is the simulate.Pool of
// one run.
type plannedPool struct {
	config      plannedConfig
	memory      warmpool.Memory
	members     []warmpool.Member
	chunks      int
	covers      bool
	budgetSpent bool
	tally       PoolTally
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

// newPlannedPool returns an empty pool.
func newPlannedPool(c plannedConfig) *plannedPool {
	k := &plannedPool{config: c}
	for i := range c.Members.Count {
		m := c.Member
		m.Name += "-" + string(rune('a'+i))
		k.members = append(k.members, m)
	}
	return k
}

// Hold plans by what is known and returns the places to hold.
func (k *plannedPool) Hold(at time.Time, all []sim.Placement) int {
	i := int(at.Sub(k.config.Windows.demand.Start) / k.config.Refresh)
	for j := range k.members {
		m := &k.members[j]
		m.Placed, m.Waiting = all[j].Placed, all[j].Waiting
		known := k.config.Members.step(j, i)
		m.Outlook = k.config.Windows.outlook(at, time.Duration(known)*k.config.Refresh)
		m.Outlook.Served = k.value(known)
	}
	plan, memory := k.memory.Plan(at, k.config.Pool, k.members, k.capacity(all[0].Held))
	k.memory, k.covers, k.chunks = memory, plan.Covers, plan.Want
	k.budgetSpent = k.budgetSpent || plan.State == warmpool.OverBudget
	if !at.Before(k.config.From) {
		k.count(&plan)
	}
	return k.places()
}

// places of the chunks that were asked for. A replica that takes several finds a place where there are as many.
func (k *plannedPool) places() int {
	return int(float64(k.chunks)/k.config.Member.Chunks + roundingError)
}

// capacity is what is held in chunks: as many as were asked for, where all of their places are there.
func (k *plannedPool) capacity(held int) warmpool.Capacity {
	out := warmpool.Capacity{Held: k.chunks, Ready: k.chunks}
	if held < k.places() {
		out.Ready = int(float64(held)*k.config.Member.Chunks + roundingError)
	}
	return out
}

func (k *plannedPool) count(p *warmpool.Plan) {
	k.tally.All++
	if p.Covers {
		k.tally.Covered++
	}
	switch p.State {
	case warmpool.FallingBack:
		k.tally.FellBack++
	case warmpool.OverBudget:
		k.tally.OverBudget++
	case warmpool.Ready, warmpool.Filling:
	}
}

// value looks as far ahead as the pool makes necessary.
func (k *plannedPool) value(step int) float64 {
	if k.covers {
		return k.config.Near[step]
	}
	return k.config.Far[step]
}

// Tally is what was counted so far.
func (k *plannedPool) Tally() PoolTally { return k.tally }

// BudgetSpent reports whether the budget was ever spent, warm-up included: if not, a larger one changes nothing.
func (k *plannedPool) BudgetSpent() bool { return k.budgetSpent }

// Policy returns the policy of a member: what Forewarm serves with the pool.
func (k *plannedPool) Policy(member int) simulate.Policy { //nolint:ireturn // What a simulate.Part holds.
	return &memberPolicy{pool: k, member: member}
}

type memberPolicy struct {
	pool         *plannedPool
	member, next int
}

// Serve is the value for the coming refresh.
func (s *memberPolicy) Serve(simulate.Observation) float64 {
	v := s.pool.value(s.pool.config.Members.step(s.member, s.next))
	s.next++
	return v
}

// fixedPlaces holds a number of places at all times.
type fixedPlaces int

// Hold is the number.
func (s fixedPlaces) Hold(time.Time, []sim.Placement) int { return int(s) }

package pool

import (
	"time"

	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/warmpool"
	"github.com/forewarm/forewarm/pkg/workload"
)

// Config is a pool with one member, and what forewarm serves of it.
type Config struct {
	// Pool is what the user asks for, with the lead times that are planned with.
	Pool warmpool.Pool
	// Member is the workload, but for what changes from step to step.
	Member warmpool.Member
	// Windows that were read.
	Windows *Windows
	// Near are the values that forewarm serves at every refresh where it looks ahead by the lead time of a pod, and Far
	// where it must by that of a node, too.
	Near, Far []float64
	// From when on refreshes are counted.
	From time.Time
}

// Keeper holds what a planner plans, and serves what forewarm does beside it. It is a simulate.Pool and a simulate.Policy,
// of one run.
type Keeper struct {
	config Config
	memory warmpool.Memory
	asked  int
	covers bool
	next   int
	tally  Tally
}

// Tally counts refreshes: all, those in which the pool covered its member, in which it fell back on what is held without a
// forecast, and in which its budget was spent.
type Tally struct {
	All, Covered, FellBack, OverBudget int
}

// Share is a part of all refreshes.
func (t *Tally) Share(of int) float64 {
	if t.All == 0 {
		return 0
	}
	return float64(of) / float64(t.All)
}

var (
	_ simulate.Pool   = (*Keeper)(nil)
	_ simulate.Policy = (*Keeper)(nil)
)

// NewKeeper holds nothing yet.
func NewKeeper(c Config) *Keeper { return &Keeper{config: c} }

// Hold plans by what is known, and gives the places to hold.
func (k *Keeper) Hold(at time.Time, s workload.Standing) int {
	m := k.config.Member
	m.Placed, m.Waiting = s.Placed, s.Waiting
	m.Outlook.Served, m.Outlook.Windows = k.value(), k.config.Windows.at(at)
	m.Outlook.Observed = k.config.Windows.observed(at)
	if len(m.Outlook.Windows) == 0 {
		m.Outlook.Doubt = "still warming up"
	}
	plan, memory := k.memory.Plan(at, k.config.Pool, []warmpool.Member{m}, k.capacity(s))
	k.memory, k.covers, k.asked = memory, plan.Covers, plan.Want
	if !at.Before(k.config.From) {
		k.count(&plan)
	}
	return k.places()
}

// places of the chunks that were asked for. A replica that takes several finds a place where there are as many.
func (k *Keeper) places() int { return int(float64(k.asked)/k.config.Member.Chunks + tiny) }

// tiny makes up for the last bit of a quotient.
const tiny = 1e-9

// capacity is what is held in chunks: as many as were asked for, where all of their places are there.
func (k *Keeper) capacity(s workload.Standing) warmpool.Capacity {
	out := warmpool.Capacity{Held: k.asked, Ready: k.asked}
	if s.Held < k.places() {
		out.Ready = int(float64(s.Held)*k.config.Member.Chunks + tiny)
	}
	return out
}

func (k *Keeper) count(p *warmpool.Plan) {
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

// Serve is the value for the coming refresh.
func (k *Keeper) Serve(simulate.Observation) float64 {
	v := k.value()
	k.next++
	return v
}

// value looks as far ahead as the pool makes necessary.
func (k *Keeper) value() float64 {
	if k.covers {
		return k.config.Near[k.next]
	}
	return k.config.Far[k.next]
}

// Tally is what was counted so far.
func (k *Keeper) Tally() Tally { return k.tally }

// Spare holds a number of places at all times.
type Spare int

// Hold is the number.
func (s Spare) Hold(time.Time, workload.Standing) int { return int(s) }

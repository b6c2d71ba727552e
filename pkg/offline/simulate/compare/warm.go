package compare

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/pool"
)

// Pool is a warm pool, and what a replica takes of it.
type Pool struct {
	// Name of it, and where from, in words; Member is the Forecast that the history is taken to be of.
	Name, Member string
	// Members of it: those whose history is not known are taken to be like the one that is, days apart.
	Members int
	// Asked is what its user asks for; the lead times are the Config's.
	Asked warmpool.Pool
	// Chunks of a replica.
	Chunks float64
}

// Holding is who says how much capacity waits for replicas.
type Holding string

// The holdings of trials.
const (
	// None: a replica that finds no place waits for a node.
	None Holding = "none"
	// Planned: a warm pool, by its plan.
	Planned Holding = "pool"
	// Fixed: a number of chunks at all times.
	Fixed Holding = "fixed"
)

// Warm is what a warm pool comes to, beside doing without one.
type Warm struct {
	Pool Pool
	// Members that were played: alike, days apart. All figures are of all of them.
	Members int
	// Trials are without a pool, with it under several budgets, and with a fixed number of chunks; those that could not be
	// played are left out.
	Trials []Trial
	// Verdict is one sentence or two with their numbers; Notes are what a reader must know before they trust it.
	Verdict string
	Notes   []string
}

// Trial is what came of one way to hold capacity.
type Trial struct {
	// Policy that scales, one of the names above, with a Target in the metric's unit.
	Policy string
	Target float64
	Holding
	// Budget of a pool in idle GPU-hours a day, 0 for none; Own says that it is the pool's own. Spare are the chunks that are
	// Fixed.
	Budget float64
	Own    bool
	Spare  int
	// Hindsight says that the Target, the Spare or both were chosen because they would have been the best.
	Hindsight bool
	Meets     bool
	Report    simulate.Report
	// Pool is how often the pool covered what may be wanted, or fell back.
	Pool pool.Tally
	// Course is what happened; of the pool with its own budget alone.
	Course []Slot
}

// IdlePerDay is what stood idle a day, in replica-hours.
func (t *Trial) IdlePerDay() float64 {
	if t.Report.Duration <= 0 {
		return 0
	}
	return t.Report.Idle / (t.Report.Duration.Hours() / day.Hours())
}

// placesOfNode is how many replicas a node has room for: a chunk's worth, one at least.
func (p *Pool) placesOfNode() int {
	if p == nil {
		return 1
	}
	return max(1, p.places(1))
}

// places of a number of chunks.
func (p *Pool) places(chunks int) int { return int(float64(chunks)/p.Chunks + tiny) }

// tiny makes up for the last bit of a quotient.
const tiny = 1e-9

// ask is the pool with a budget, and the lead times that are planned with.
func (c *Config) ask(budget float64) warmpool.Pool {
	out := c.Pool.Asked
	out.Budget, out.Pod, out.Node = budget, c.Lead.planned(), c.Node.planned()
	return out
}

// judgePool says what is wrong with the nodes and the pool.
func (c *Config) judgePool() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Node != nil {
		if err := c.Node.validate(); err != nil {
			wrong("nodes: %w", err)
		}
	}
	if c.Pool == nil {
		return errors.Join(problems...)
	}
	p := c.Pool
	if c.Node == nil {
		wrong("a warm pool without the lead time of a node, want one: what the pool saves is the wait for nodes")
	}
	if !(p.Chunks > 0) || math.IsInf(p.Chunks, 0) || !(p.Asked.GPUs > 0) || math.IsInf(p.Asked.GPUs, 0) {
		wrong("replicas of %v chunks of %v GPUs, want more than 0 of both", p.Chunks, p.Asked.GPUs)
	} else if of := p.Chunks * p.Asked.GPUs; math.Abs(of-c.GPUs) > 1e-6*c.GPUs {
		wrong("a replica of %v GPUs, and of %v chunks of %v GPUs each: want the same", c.GPUs, p.Chunks, p.Asked.GPUs)
	}
	if p.Asked.Max < 1 || p.Asked.Min < 0 || p.Asked.Min > p.Asked.Max {
		wrong("a pool of %d to %d chunks, want at least 0 to 1", p.Asked.Min, p.Asked.Max)
	}
	return errors.Join(problems...)
}

// How far apart the fixed numbers of chunks are that are tried.
const (
	every   = 1.3
	doubled = 2.0
)

// spares are the fixed numbers of chunks that are tried, the largest first, each so much smaller than the one before; of the
// few every one. Those that no replica fits into are not.
func (p *Pool) spares(apart float64) []int {
	out := []int{p.Asked.Max}
	for n := p.Asked.Max; n > 1; {
		n = min(n-1, int(math.Ceil(float64(n)/apart)))
		if p.places(n) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// untilCounted is when the warm-up ends.
func (p *plan) untilCounted() time.Time { return p.demand.Start.Add(p.warmUp) }

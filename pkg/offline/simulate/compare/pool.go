package compare

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// Pool is a warm pool, and what a replica takes of it.
type Pool struct {
	// Name is the name of the pool and where it was read from. Member is the Forecast whose history is simulated.
	Name, Member string
	// Members is the number of members. Members without a known history are assumed to have the known history, shifted by days.
	Members int
	// Spec is the user's specification. The lead times come from the Config.
	Spec warmpool.Pool
	// Chunks is the number of chunks per replica.
	Chunks float64
}

// Holding says how the simulation chooses how much capacity to hold ahead.
type Holding string

// Kinds of holding of a trial.
const (
	// HoldNothing: a replica that finds no place waits for a node.
	HoldNothing Holding = "none"
	// HoldPlanned: a warm pool, by its plan.
	HoldPlanned Holding = "pool"
	// HoldFixed: a number of chunks at all times.
	HoldFixed Holding = "fixed"
)

// PoolResult compares a warm pool with none.
type PoolResult struct {
	Pool Pool
	// Members is the number of members that were played, with the same history, shifted by days. All figures are totals of them.
	Members int
	// Trials are runs without a pool, with the pool and several budgets, and with a fixed number of chunks. Trials that could not be
	// played are left out.
	Trials []Trial
	// Verdict is the result in words, with its numbers; Notes are its caveats.
	Verdict string
	Notes   []string
}

// Trial is the result of one way to hold capacity.
type Trial struct {
	// Policy that scales, such as Forewarm, with a Target in the metric's unit.
	Policy string
	Target float64
	Holding
	// Budget of a pool in idle GPU-hours a day, 0 for none; OwnBudget is true for the pool's own. FixedChunks are the
	// chunks of HoldFixed.
	Budget      float64
	OwnBudget   bool
	FixedChunks int
	// Hindsight is true if Target, FixedChunks or both were chosen afterwards as the best.
	Hindsight bool
	// Limited is the share of the demand that the objective limits.
	Limited        float64
	MeetsObjective bool
	Report         simulate.Report
	// Pool is how often the pool covered what may be wanted, or fell back.
	Pool PoolTally
	// Timeline is set only for the pool with its own budget.
	Timeline []Slot
}

// IdlePerDay is the idle capacity per day, in replica-hours.
func (t *Trial) IdlePerDay() float64 {
	if t.Report.Duration <= 0 {
		return 0
	}
	return t.Report.IdleReplicaHours / (t.Report.Duration.Hours() / day.Hours())
}

// placesOfNode returns how many replicas fit on a node: those of a chunk, and at least one.
func (p *Pool) placesOfNode() int {
	if p == nil {
		return 1
	}
	return max(1, p.places(1))
}

// places returns how many replicas fit into a number of chunks.
func (p *Pool) places(chunks int) int { return int(float64(chunks)/p.Chunks + roundingError) }

// roundingError compensates for rounding in a division.
const roundingError = 1e-9

// validatePool reports every problem with the nodes and the pool.
func (c *Config) validatePool(wrong func(format string, args ...any)) {
	if c.Node != nil {
		if err := c.Node.validate(); err != nil {
			wrong("nodes: %w", err)
		}
	}
	p := c.Pool
	if p == nil {
		return
	}
	if c.Deferrable > 0 {
		wrong("a warm pool and work that may wait cannot be simulated together: simulate one of them at a time")
	}
	if c.Node == nil {
		wrong("a warm pool needs the lead time of a node, because a pool saves the time that replicas wait for nodes")
	}
	if !(p.Chunks > 0) || math.IsInf(p.Chunks, 0) || !(p.Spec.GPUs > 0) || math.IsInf(p.Spec.GPUs, 0) {
		wrong("a replica takes %v chunks with %v GPUs each; expected more than 0 of both", p.Chunks, p.Spec.GPUs)
	} else if of := p.Chunks * p.Spec.GPUs; math.Abs(of-c.GPUs) > 1e-6*c.GPUs {
		wrong(
			"a replica has %v GPUs but takes %v chunks with %v GPUs each; both must be the same number of GPUs",
			c.GPUs,
			p.Chunks,
			p.Spec.GPUs,
		)
	}
	if p.Spec.Max < 1 || p.Spec.Min < 0 || p.Spec.Min > p.Spec.Max {
		wrong(
			"a pool of %d to %d chunks; expected a min of at least 0 and a max of at least 1 and at least min",
			p.Spec.Min,
			p.Spec.Max,
		)
	}
}

// Ratios between consecutive fixed numbers of chunks that are tried.
const (
	fineRatio   = 1.3
	coarseRatio = 2.0
)

// fixedNumbers returns the fixed numbers of chunks that are tried, in descending order. Each is smaller than the previous one by a ratio,
// but by at least one. Numbers with which no replica fits are left out.
func (p *Pool) fixedNumbers(apart float64) []int {
	out := []int{p.Spec.Max}
	for n := p.Spec.Max; n > 1; {
		n = min(n-1, int(math.Ceil(float64(n)/apart)))
		if p.places(n) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// countedFrom is when the warm-up ends.
func (p *plan) countedFrom() time.Time { return p.demand.Start.Add(p.warmUp) }

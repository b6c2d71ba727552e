package warmpools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/actuator"
)

// Config is the pace of a Controller. The zero value of a field means its default.
type Config struct {
	// Step is how often Run takes one; default 15 s. All other waits are multiples of it.
	Step time.Duration
}

// The waits, in steps.
const (
	// renewal is how often a pool is held anew though it wants what it did: somebody may have changed what holds it.
	renewal = 4
	// pause after a fault that only a user can mend, and the longest after one that may pass; the first is one step.
	pause, longest = 4, 16
	// gap is the least between two writes of a pool's status for news that can wait; what is remembered is written as often
	// as keep even where there is none, so that little is lost with a leader.
	gap, keep = 2, 4
	// notice is between the choice to cover a member and its use, for all replicas to hear of it.
	notice = 4
)

// patience with one pool.
const patience = 30 * time.Second

// Pools are the objects as a cluster has them; a Watch is one.
type Pools interface {
	// Check is nil once all pools were read: of some it cannot be told which is the older.
	Check() error
	// List are the pools of all namespaces. Read only.
	List() []*Pool
	// UpdateStatus and Finalize are refused where the pool has changed since it was read.
	UpdateStatus(ctx context.Context, p *Pool, status *v1alpha1.WarmPoolStatus) error
	Finalize(ctx context.Context, p *Pool, on bool) (*Pool, error)
}

// Events are where a controller tells what has changed; a record.EventRecorder is one.
type Events interface {
	Event(about runtime.Object, kind, reason, message string)
}

// Clock is the time, and a way to wait for it.
type Clock interface {
	Now() time.Time
	WaitUntil(ctx context.Context, t time.Time) error
}

// Surroundings are what a Controller reads and acts on.
type Surroundings struct {
	Pools     Pools
	Board     *snapshot.Board
	Workloads Workloads
	Actuator  actuator.Actuator
}

// Controller keeps the pools. Only the leader may run it.
type Controller struct {
	Surroundings

	pace    time.Duration
	log     *slog.Logger
	events  Events
	limiter *rate.Limiter
	term    map[types.UID]*course
	// gauges are of the newest step; nil while this replica does not lead.
	gauges atomic.Pointer[[]gauge]
}

// course is what is known of a pool from one step to the next, within a term. What must outlast a term is in the status.
type course struct {
	memory warmpool.Memory
	// held is what there was at the last look, seen is false before the first.
	held actuator.Held
	seen bool
	// attempted is the generation that was last to be held; want is what was held last, and at is when.
	attempted int64
	want      actuator.Want
	at        time.Time
	// fault is what was in the way of the last attempt; nothing is attempted before retry.
	fault    error
	failures int
	retry    time.Time
	// tried is when the status was last written, or was refused.
	tried time.Time
}

// New makes a controller.
func New(config Config, in Surroundings, log *slog.Logger) *Controller {
	if config.Step == 0 {
		config.Step = 15 * time.Second
	}
	return &Controller{
		Surroundings: in, pace: config.Step, log: log,
		limiter: rate.NewLimiter(writesPerSecond, burst), term: map[types.UID]*course{},
	}
}

// Tell has what changes told as events, too. It is not to be called while the controller runs.
func (c *Controller) Tell(events Events) { c.events = events }

// Run takes steps until the context ends. It begins with what the statuses say, so that a new leader goes on from the old
// one.
func (c *Controller) Run(ctx context.Context, clock Clock) {
	c.term = map[types.UID]*course{}
	defer c.gauges.Store(nil)
	before := ""
	for {
		err := c.Step(ctx, clock.Now())
		text := fmt.Sprint(err)
		if err != nil && text != before && ctx.Err() == nil {
			c.log.WarnContext(ctx, "warm pools are not all as they should be, trying again", "error", err)
		}
		before = text
		if err := clock.WaitUntil(ctx, clock.Now().Add(c.pace)); err != nil {
			return
		}
	}
}

// Step plans for every pool at a time, has it held, and writes what there is to say. What fails for one pool fails for it
// alone. Before the first snapshot, and before the pools were read, nothing is known, and nothing done.
func (c *Controller) Step(ctx context.Context, now time.Time) error {
	newest := c.Board.Load()
	if all := c.Pools.Check() == nil; newest == nil || !all {
		return nil
	}
	pools := c.Pools.List()
	by := claimsOf(pools)
	// Writes are bounded: whose status has waited longest comes first, so that the last of a thousand has its turn, too.
	slices.SortStableFunc(pools, func(a, b *Pool) int { return c.tried(a).Compare(c.tried(b)) })
	term := make(map[types.UID]*course, len(pools))
	gauges := make([]gauge, 0, len(pools))
	var problems []error
	for _, p := range pools {
		k := c.term[p.UID]
		if k == nil {
			k = c.begin(ctx, p)
		}
		k.heedClock(now, c.pace)
		term[p.UID] = k
		own, cancel := context.WithTimeout(ctx, patience)
		said, err := c.step(own, now, newest, visit{Pool: p, course: k, claims: by})
		cancel()
		if err != nil && ctx.Err() == nil {
			problems = append(problems, fmt.Errorf("%s: %w", p.key(), err))
		}
		gauges = append(gauges, said)
	}
	c.term = term
	c.gauges.Store(&gauges)
	// What is wrong with the cluster is wrong for each of a thousand pools: a few tell it.
	const told = 5
	if more := len(problems) - told; more > 0 {
		problems = append(problems[:told], fmt.Errorf("and %d more", more))
	}
	return errors.Join(problems...)
}

// tried is when a pool's status was last written in this term.
func (c *Controller) tried(p *Pool) time.Time {
	if k := c.term[p.UID]; k != nil {
		return k.tried
	}
	return time.Time{}
}

// begin takes up a pool where its status says that it was left.
func (c *Controller) begin(ctx context.Context, p *Pool) *course {
	held := p.Status.Memory
	if held == nil {
		return &course{}
	}
	memory, err := memoryIn(held)
	if err != nil {
		c.log.WarnContext(ctx, "the memory of a WarmPool cannot be used, it begins anew", "pool", p.key().String(),
			"error", err)
	}
	return &course{memory: memory}
}

// failed keeps a fault, and when to try again: what only a user can mend rarely, the rest with growing pauses.
func (c *Controller) failed(v *visit, err error, now time.Time) {
	v.failures++
	wait := min(1<<min(v.failures-1, 8), longest)
	if actuator.AsProblem(err) != nil {
		wait = pause
	}
	v.fault, v.retry, v.attempted = err, now.Add(time.Duration(wait)*c.pace), v.Generation
}

// heedClock forgets what a clock that was ahead, and was set back since, has dated: nothing is waited for until then.
func (k *course) heedClock(now time.Time, pace time.Duration) {
	for _, done := range []*time.Time{&k.at, &k.tried} {
		if done.After(now) {
			*done = time.Time{}
		}
	}
	if k.retry.After(now.Add(longest * pace)) {
		k.retry = time.Time{}
	}
}

func (k *course) mended() { k.fault, k.failures, k.retry = nil, 0, time.Time{} }

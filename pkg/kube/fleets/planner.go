package fleets

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/changes"
	"github.com/forewarm/forewarm/pkg/run"
)

// Step is how often fleets are planned.
const Step = 15 * time.Second

// Objects are the GPUFleets of a cluster; a Watch implements it.
type Objects interface {
	// Check returns nil once all fleets have been read. Until then, the oldest fleet of a member is unknown.
	Check() error
	// List returns the fleets of all namespaces. Callers must not modify them.
	List() []*Fleet
	// Oldest returns the oldest valid fleet that lists a Forecast; nil if there is none.
	Oldest(forecast snapshot.Key) *Fleet
}

// Resources are what GPUs are counted from; a Cluster implements it. The errors say what to do.
type Resources interface {
	// Follow watches the pods of these namespaces. The context is the Planner's.
	Follow(ctx context.Context, namespaces map[string]bool)
	Nodes() ([]*Node, error)
	// Queue returns a ClusterQueue; nil if there is none.
	Queue(name string) (*Queue, error)
	// Pods returns the pods of a namespace that request extended resources, and may return those of others.
	Pods(namespace string) ([]*Pod, error)
}

// Dependencies are what a Planner reads, and the Store that it fills.
type Dependencies struct {
	Fleets    Objects
	Snapshots *snapshot.Store
	Workloads Workloads
	Cluster   Resources
	Store     *fleet.Store
}

// Planner plans all fleets at every step. Every replica of Forewarm runs one.
type Planner struct {
	Dependencies

	planners map[types.UID]*fleet.Planner
	// newest are the fleets of the newest step, for the StatusWriter.
	newest atomic.Pointer[[]planned]
}

// planned is a fleet at a step.
type planned struct {
	*Fleet
	*fleet.State

	capacity capacity
	members  membership
	batch    batch
	shortage *fleet.Shortage
}

// hasPlan reports whether the State has a Plan.
func (o *planned) hasPlan() bool { return o.State.Problem == "" }

// NewPlanner returns a planner.
func NewPlanner(in Dependencies) *Planner {
	return &Planner{Dependencies: in, planners: map[types.UID]*fleet.Planner{}}
}

// Run takes steps until the context ends.
func (p *Planner) Run(ctx context.Context, clock run.Clock) {
	changes.Repeat(ctx, clock, Step, func(now time.Time) error { p.Step(ctx, now); return nil }, func(error) {})
}

// Step plans every fleet. Before the first snapshot, and before the fleets were read, it does nothing.
func (p *Planner) Step(ctx context.Context, now time.Time) {
	newest := p.Snapshots.Load()
	if newest == nil || p.Fleets.Check() != nil {
		return
	}
	fleets := p.Fleets.List()
	namespaces := map[string]bool{}
	for _, f := range fleets {
		namespaces[f.Namespace] = true
	}
	p.Cluster.Follow(ctx, namespaces)
	states, all := map[snapshot.Key]*fleet.State{}, make([]planned, 0, len(fleets))
	planners := make(map[types.UID]*fleet.Planner, len(fleets))
	for _, f := range fleets {
		planners[f.UID] = p.planners[f.UID]
		if planners[f.UID] == nil {
			planners[f.UID] = &fleet.Planner{}
		}
		one := p.plan(now, newest, f, planners[f.UID])
		states[f.key()] = one.State
		all = append(all, one)
	}
	p.planners = planners
	p.Store.Set(states)
	p.newest.Store(&all)
}

// plan plans one fleet.
func (p *Planner) plan(now time.Time, newest *snapshot.Snapshot, f *Fleet, by *fleet.Planner) planned {
	out := planned{Fleet: f, State: &fleet.State{Key: f.key(), Problem: f.Problem}}
	if f.Problem != "" {
		return out
	}
	out.members = p.membersOf(now, newest, f)
	out.capacity = p.capacityOf(f)
	if out.capacity.known {
		var err error
		if out.batch, err = p.batchOf(f, out.capacity, &out.members); err != nil {
			out.capacity = unreadable(err)
		}
	}
	if !out.capacity.known {
		out.State.Problem = out.capacity.message
		return out
	}
	out.capacity.checkMinimums(out.members.minimums)
	in := fleet.Fleet{GPUs: out.capacity.gpus, Other: out.batch.other, Members: out.members.members}
	for i := range f.Resolved.Batch {
		if b := &f.Resolved.Batch[i]; out.batch.refused[b.Name] == "" {
			consumer := b.Consumer
			consumer.Running = out.batch.running[i]
			in.Batch = append(in.Batch, consumer)
			out.Running = append(out.Running, out.batch.running[i])
		}
	}
	out.Plan, out.Refused = by.Plan(now, in), out.batch.refused
	out.Day = by.Day(now, &in)
	out.shortage = out.Day.Shortage()
	return out
}

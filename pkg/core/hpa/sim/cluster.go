package sim

import (
	"errors"
	"time"
)

// cluster holds the pods of one workload. A pod is ready after its lead time, which starts when the pod has a place on
// a node. Pods stop at once. Those that are not ready stop first, the newest before the others, as the ReplicaSet
// controller chooses.
type cluster struct {
	// ready pods serve, starting pods have a place, waiting pods have none yet.
	ready    int
	starting schedule
	waiting  int
	// queued counts the pods that found no place when they were requested.
	queued int
	// nodes is nil where places are unlimited. Of clusters that share nodes, only the first advances them and only the
	// last reports their free places. reported is how many of this cluster's waiting pods the nodes know of.
	nodes             *nodes
	notFirst, notLast bool
	reported          int
	// size is how many places a pod takes.
	size int
	// random is nil where nothing is random.
	random *draws
	// risk is what ready replicas have run since the last interruption, and fatal where the next one comes, both in interruptions.
	risk, fatal float64
}

func newCluster(k *settings, ready int) cluster {
	out := cluster{ready: ready, size: k.places}
	if k.nodes != nil {
		out.nodes = newNodes(k.nodes, k.step)
	}
	if k.nodes != nil || !k.constantLead || k.interruptions > 0 {
		out.random = newDraws(k)
	}
	if k.interruptions > 0 {
		out.fatal = out.random.exponential(0)
	}
	return out
}

// replicas is the number of requested pods.
func (c *cluster) replicas() int { return c.ready + c.starting.total + c.waiting }

// paid is the number of places that are paid for: those of starting and ready pods, and the free places of nodes.
func (c *cluster) paid() int {
	held := (c.ready + c.starting.total) * c.size
	if c.nodes != nil && !c.notLast {
		return held + c.nodes.free()
	}
	return held
}

// advance makes ready what is due at a step.
func (c *cluster) advance(k *settings, step int) {
	c.ready += c.starting.take(step)
	if k.interruptions > 0 {
		c.interrupt(k, step)
	}
	if c.nodes == nil {
		return
	}
	if !c.notFirst {
		c.nodes.advance(step)
	}
	c.place(k, step)
}

// interrupt takes ready replicas away, as a Poisson process, and starts others in their place.
func (c *cluster) interrupt(k *settings, step int) {
	lost := 0
	for c.risk += float64(c.ready) * k.interruptions; c.risk >= c.fatal && lost < c.ready; lost++ {
		c.risk -= c.fatal
		c.fatal = c.random.exponential(step)
	}
	c.ready -= lost
	c.waiting += lost
	c.place(k, step)
}

// scale starts or stops pods.
func (c *cluster) scale(k *settings, step, to int) {
	surplus := c.replicas() - to
	if surplus == 0 && c.waiting == 0 && c.nodes == nil {
		return // Most syncs change nothing.
	}
	if surplus <= 0 {
		c.waiting -= surplus
		c.place(k, step)
		if c.waiting > 0 { // Pods that waited longer are placed first.
			c.queued += min(-surplus, c.waiting)
		}
		return
	}
	waiting := min(surplus, c.waiting)
	c.waiting -= waiting
	starting := c.starting.cancel(surplus - waiting)
	ready := surplus - waiting - starting
	c.ready -= ready
	if c.nodes != nil {
		c.reportWaiting()
		c.nodes.release(step, (starting+ready)*c.size)
	}
}

// place starts waiting pods where there are places, and requests nodes for the rest.
func (c *cluster) place(k *settings, step int) {
	placed := c.waiting
	if c.nodes != nil {
		c.reportWaiting()
		placed = c.nodes.claim(step, c.waiting, c.size, c.random)
		c.reported -= placed
	}
	c.waiting -= placed
	if k.constantLead {
		c.start(step, k.leadSteps, placed)
		return
	}
	for range placed {
		c.start(step, stepsIn(c.random.next(k.pod, step), k.step), 1)
	}
}

// reportWaiting updates the nodes' count of waiting pods.
func (c *cluster) reportWaiting() {
	c.nodes.waiting += (c.waiting - c.reported) * c.size
	c.reported = c.waiting
}

func (c *cluster) start(step, lead, pods int) {
	if lead > 0 {
		c.starting.add(step+lead, pods)
	} else {
		c.ready += pods
	}
}

// Fleet is several workloads that serve one demand from one queue, each with an HPA, a capacity and lead times of its own.
type Fleet struct {
	workloads []*Workload
	queue     queue
	// results are those of the workloads in the newest step.
	results []StepResult
}

// NewFleet returns workloads of some Specs, at least one. Each starts with the ready replicas that serve its demand, within the limits of
// its HPA. The errors are those of Spec.Validate.
func NewFleet(specs []Spec, start time.Time, step time.Duration, demands []float64) (*Fleet, error) {
	if len(specs) == 0 {
		return nil, errors.New("a fleet without workloads: expected at least one")
	}
	f := &Fleet{results: make([]StepResult, len(specs))}
	for i := range specs {
		w, err := newWorkload(specs[i], start, step, demands[i])
		if err != nil {
			return nil, err
		}
		f.workloads = append(f.workloads, w)
	}
	return f, nil
}

// Step simulates the next step, with the value that each workload's HPA reads. The result is in replicas of the first workload, and the
// demand is late by its wait; those of the workloads, each in its own replicas, are valid until the next call and know no demand.
func (f *Fleet) Step(values []float64, demand float64) (StepResult, []StepResult) {
	first := f.workloads[0].settings
	out, ready := StepResult{At: f.workloads[0].at(f.workloads[0].step)}, 0.0
	for i, w := range f.workloads {
		before := w.count()
		w.movePods(values[i])
		r := w.result(before, values[i])
		f.results[i] = r
		ready += float64(r.Ready) * w.settings.capacity / first.capacity
		out.Replicas, out.Ready, out.Held = out.Replicas+r.Replicas, out.Ready+r.Ready, out.Held+r.Held
		out.Started, out.Stopped, out.Value = out.Started+r.Started, out.Stopped+r.Stopped, out.Value+r.Value
	}
	out.setFlow(f.queue.step(first, first.arrivalOf(demand), ready), f.queue.backlog)
	return out, f.results
}

// Nodes describes the nodes that pods need.
type Nodes struct {
	// Lead is the time from requesting a node until pods start on it.
	Lead LeadTime
	// PodsPerNode is how many pods a node has place for, 1 or more.
	PodsPerNode int
	// KeepIdle is how long a node without pods stays. Cluster Autoscaler's default is 10 minutes.
	KeepIdle time.Duration
	// Places is the number of places of a cluster that never grows or shrinks; 0 for one that does. The other fields are then not used.
	Places int
}

// nodes counts the free places and the nodes that are starting. It does not track which node a place is on: pods are
// assumed to be packed as densely as possible.
type nodes struct {
	spec *Nodes
	step time.Duration
	keep int
	// idle are the free places by the time since when, ascending. The newest are claimed first, so that older nodes can
	// go.
	idle   []idlePlaces
	coming schedule
	// waiting is the number of places that pods without a place need.
	waiting int
	// wantHeld is how many places the warm pool should hold, held how many it holds. Held places are free and do not
	// expire.
	wantHeld, held int
}

type idlePlaces struct{ since, places int }

func newNodes(spec *Nodes, step time.Duration) *nodes {
	out := &nodes{
		spec: spec,
		step: step,
		keep: stepsIn(spec.KeepIdle, step),
	}
	if spec.Places > 0 {
		out.idle = []idlePlaces{{places: spec.Places}}
	}
	return out
}

func (n *nodes) free() int {
	free := n.held
	for _, i := range n.idle {
		free += i.places
	}
	return free
}

// advance adds the nodes that become ready at a step and removes those that were idle for KeepIdle.
func (n *nodes) advance(step int) {
	if n.spec.Places > 0 {
		return
	}
	n.release(step, n.spec.PodsPerNode*n.coming.take(step))
	expired := 0
	for _, i := range n.idle {
		if i.since+n.keep > step {
			break
		}
		expired += i.places
	}
	for left := expired / n.spec.PodsPerNode * n.spec.PodsPerNode; left > 0; {
		oldest := &n.idle[0]
		some := min(left, oldest.places)
		oldest.places -= some
		left -= some
		if oldest.places == 0 {
			n.idle = append(n.idle[:0], n.idle[1:]...)
		}
	}
}

// release frees places. The pool takes what it lacks first.
func (n *nodes) release(step, places int) {
	kept := min(places, n.wantHeld-n.held)
	n.held += kept
	places -= kept
	if places > 0 {
		n.idle = append(n.idle, idlePlaces{step, places})
	}
}

// claim places up to the wanted number of pods of a size and requests nodes for the rest. A requested node always starts. The
// pool's places are claimed last, as a scheduler preempts only where nothing is free.
func (n *nodes) claim(step, wanted, size int, random *draws) (placed int) {
	placed = min(wanted, n.free()/size)
	places := placed * size
	n.held -= places - n.claimIdle(places)
	n.waiting -= places
	n.request(step, random)
	return placed
}

// claimIdle claims idle places, up to the wanted number.
func (n *nodes) claimIdle(wanted int) (taken int) {
	for wanted > taken && len(n.idle) > 0 {
		newest := &n.idle[len(n.idle)-1]
		some := min(wanted-taken, newest.places)
		newest.places -= some
		taken += some
		if newest.places == 0 {
			n.idle = n.idle[:len(n.idle)-1]
		}
	}
	return taken
}

// request requests nodes for waiting pods and for what the pool lacks, less those that are starting.
func (n *nodes) request(step int, random *draws) {
	if n.spec.Places > 0 {
		return
	}
	short := n.waiting + n.wantHeld - n.held - n.spec.PodsPerNode*n.coming.total
	for ; short > 0; short -= n.spec.PodsPerNode {
		n.coming.add(step+max(stepsIn(random.next(n.spec.Lead, step), n.step), 1), 1)
	}
}

// Hold keeps so many places free for pods, as a warm pool does with placeholder pods. Nodes are requested for missing
// places; held places are paid for and do not expire. A pod takes a held place at once, and the place is replaced.
// Surplus places become idle. Hold does nothing where places are unlimited.
func (w *Workload) Hold(places int) {
	c := &w.cluster
	if c.nodes == nil {
		return
	}
	c.reportWaiting()
	c.nodes.setHeld(w.step, max(places, 0))
	c.nodes.request(w.step, c.random)
}

// Placement counts a workload's replicas and held places between two steps. Placed replicas have a place, ready or not;
// Waiting replicas have none. Held is the number of places that the pool holds.
type Placement struct {
	Placed, Waiting, Held int
}

// Placement returns the current placement.
func (w *Workload) Placement() Placement {
	c := &w.cluster
	s := Placement{Placed: c.ready + c.starting.total, Waiting: c.waiting}
	if c.nodes != nil {
		s.Held = c.nodes.held
	}
	return s
}

// New returns workloads of one Spec that share nodes, one for each demand: places that one leaves another can take, and
// held places are held for all. Each starts with the ready replicas that serve its demand, within the HPA's limits. start
// is the time of the first step. Step them in their order, one step each. Call Hold on the first; the results of the last
// include the free places that all share. The errors are those of Spec.Validate.
func New(spec Spec, start time.Time, step time.Duration, demands []float64) ([]*Workload, error) {
	specs := make([]Spec, len(demands))
	for i := range specs {
		specs[i] = spec
		spec.Seed++
	}
	return NewShared(specs, start, step, demands)
}

// NewShared is New for workloads that differ, one Spec for each demand. The nodes that they share are those of the first. On a fixed number
// of places, replicas for which there is no place at the start wait for one.
func NewShared(specs []Spec, start time.Time, step time.Duration, demands []float64) ([]*Workload, error) {
	out := make([]*Workload, len(demands))
	for i, demand := range demands {
		w, err := newWorkload(specs[i], start, step, demand)
		if err != nil {
			return nil, err
		}
		c := &w.cluster
		if i > 0 && c.nodes != nil {
			c.nodes, c.notFirst = out[0].cluster.nodes, true
			out[i-1].cluster.notLast = true
		}
		if c.nodes != nil && c.nodes.spec.Places > 0 {
			wanted := c.ready
			c.ready = min(wanted, c.nodes.free()/c.size)
			c.nodes.claimIdle(c.ready * c.size)
			c.waiting = wanted - c.ready
		}
		out[i] = w
	}
	return out, nil
}

// setHeld changes how many places are held. More are taken from the idle places; surplus places become idle at the
// step.
func (n *nodes) setHeld(step, places int) {
	surplus := n.held - places
	n.wantHeld = places
	if surplus > 0 {
		n.held = places
		n.release(step, surplus)
		return
	}
	n.held += n.claimIdle(places - n.held)
}

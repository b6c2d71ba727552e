package sim

import "time"

// Nodes describes the nodes that pods need.
type Nodes struct {
	// Lead is the time from requesting a node until pods start on it.
	Lead LeadTime
	// PodsPerNode is how many pods a node has place for, 1 or more.
	PodsPerNode int
	// KeepIdle is how long a node without pods stays. Cluster Autoscaler's default is 10 minutes.
	KeepIdle time.Duration
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
	// waiting is the number of pods without a place.
	waiting int
	// wantHeld is how many places the warm pool should hold, held how many it holds. Held places are free and do not
	// expire.
	wantHeld, held int
}

type idlePlaces struct{ since, places int }

func newNodes(spec *Nodes, step time.Duration) *nodes {
	return &nodes{
		spec: spec,
		step: step,
		keep: stepsIn(spec.KeepIdle, step),
	}
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

// claim places up to the wanted number of pods and requests nodes for the rest. A requested node always starts. The
// pool's places are claimed last, as a scheduler preempts only where nothing is free.
func (n *nodes) claim(step, wanted int, random *draws) (placed int) {
	placed = n.claimIdle(wanted)
	held := min(wanted-placed, n.held)
	n.held -= held
	placed += held
	n.waiting -= placed
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
	short := n.waiting + n.wantHeld - n.held - n.spec.PodsPerNode*n.coming.total
	for ; short > 0; short -= n.spec.PodsPerNode {
		n.coming.add(step+max(stepsIn(random.next(n.spec.Lead, step), n.step), 1), 1)
	}
}

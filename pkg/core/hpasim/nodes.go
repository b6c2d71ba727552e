package hpasim

import (
	"math/rand/v2"
	"time"
)

// Nodes says what it takes to have places for pods.
type Nodes struct {
	// Lead from asking for a node until pods start on it.
	Lead Lead
	// Places for pods on a node, 1 or more.
	Places int
	// Keep is how long a node that holds no pod stays. Cluster Autoscaler's default is 10 minutes.
	Keep time.Duration
}

// nodes are the places that hold no pod, and those that are under way. Which node a place is on is not followed: pods are
// taken to sit as close together as they can.
type nodes struct {
	spec *Nodes
	step time.Duration
	keep int
	// idle are the free places by the time since when, in order. The newest are taken first, so that the others can go.
	idle   []idlePlaces
	coming arrivals
	// waiting are the pods that have no place yet.
	waiting int
	// hold is how many places a warm pool wants to hold, held how many it does. They are free and do not go.
	hold, held int
}

type idlePlaces struct{ since, places int }

func newNodes(spec *Nodes, step time.Duration) *nodes {
	return &nodes{
		spec: spec, step: step, keep: stepsIn(spec.Keep, step), coming: newArrivals(stepsIn(spec.Lead.Longest(), step)),
	}
}

func (n *nodes) free() int {
	free := n.held
	for _, i := range n.idle {
		free += i.places
	}
	return free
}

// advance takes in the nodes that come at a step and gives back those that held no pod for long enough.
func (n *nodes) advance(step int) {
	n.release(step, n.spec.Places*n.coming.take(step))
	expired := 0
	for _, i := range n.idle {
		if i.since+n.keep > step {
			break
		}
		expired += i.places
	}
	for left := expired / n.spec.Places * n.spec.Places; left > 0; {
		oldest := &n.idle[0]
		some := min(left, oldest.places)
		oldest.places -= some
		left -= some
		if oldest.places == 0 {
			n.idle = append(n.idle[:0], n.idle[1:]...)
		}
	}
}

// release frees places. What the pool lacks it takes.
func (n *nodes) release(step, places int) {
	kept := min(places, n.hold-n.held)
	n.held += kept
	places -= kept
	if places > 0 {
		n.idle = append(n.idle, idlePlaces{step, places})
	}
}

// claim takes free places, up to as many as are wanted, and sends for nodes for what is then still wanted. A node once
// sent for comes, wanted or not. The pool's places are taken last, as a scheduler preempts only where nothing is free.
func (n *nodes) claim(step, wanted int, random *rand.Rand) (placed int) {
	placed = n.take(wanted)
	held := min(wanted-placed, n.held)
	n.held -= held
	placed += held
	n.waiting -= placed
	n.send(step, random)
	return placed
}

// take takes idle places, up to as many as are wanted.
func (n *nodes) take(wanted int) (taken int) {
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

// send sends for nodes for pods that wait, and for what the pool lacks, beside those that are under way.
func (n *nodes) send(step int, random *rand.Rand) {
	short := n.waiting + n.hold - n.held - n.spec.Places*n.coming.total
	for ; short > 0; short -= n.spec.Places {
		n.coming.add(step+max(stepsIn(n.spec.Lead.Draw(random), n.step), 1), 1)
	}
}

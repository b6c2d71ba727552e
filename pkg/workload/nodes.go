package workload

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
}

type idlePlaces struct{ since, places int }

func newNodes(spec *Nodes, step time.Duration) *nodes {
	return &nodes{
		spec: spec, step: step, keep: stepsIn(spec.Keep, step), coming: newArrivals(stepsIn(spec.Lead.Longest(), step)),
	}
}

func (n *nodes) free() int {
	free := 0
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

// release frees places.
func (n *nodes) release(step, places int) {
	if places > 0 {
		n.idle = append(n.idle, idlePlaces{step, places})
	}
}

// claim takes free places, up to as many as are wanted, and sends for nodes for what is then still wanted. A node once
// sent for comes, wanted or not.
func (n *nodes) claim(step, wanted int, random *rand.Rand) (placed int) {
	for wanted > placed && len(n.idle) > 0 {
		newest := &n.idle[len(n.idle)-1]
		some := min(wanted-placed, newest.places)
		newest.places -= some
		placed += some
		if newest.places == 0 {
			n.idle = n.idle[:len(n.idle)-1]
		}
	}
	for short := wanted - placed - n.spec.Places*n.coming.total; short > 0; short -= n.spec.Places {
		n.coming.add(step+max(stepsIn(n.spec.Lead.Draw(random), n.step), 1), 1)
	}
	return placed
}

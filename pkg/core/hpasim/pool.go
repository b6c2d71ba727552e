package hpasim

import "time"

// Hold has so many places wait for pods from now on, beside those that pods have: what a warm pool does with placeholders.
// They are sent for if they are not there, are paid for once they are, and do not go while they are held; a pod that asks
// for a place takes one at once, and another is sent for. What is held no longer is free from then on, for as long as
// nodes are kept. Nothing happens where there always are enough places.
func (w *Workload) Hold(places int) {
	c := &w.cluster
	if c.nodes == nil {
		return
	}
	c.tell()
	c.nodes.keepReady(w.step, max(places, 0))
	c.nodes.send(w.step, c.random)
}

// Standing is how a workload stands between two steps. Placed replicas have a place, be they ready or not; Waiting ones
// have none yet. Held places wait for pods, of those that are wanted to.
type Standing struct {
	Placed, Waiting, Held int
}

// Standing is how it stands now.
func (w *Workload) Standing() Standing {
	c := &w.cluster
	s := Standing{Placed: c.ready + c.starting.total, Waiting: c.waiting}
	if c.nodes != nil {
		s.Held = c.nodes.held
	}
	return s
}

// Together are workloads of one Spec that share nodes: what one leaves another takes, and what is held is held for all.
// Each starts with as many ready replicas as serve its demand. They are to be stepped in their order, one step each; the
// first is the one to ask to Hold, and the moments of the last tell of the free places that all share. It returns what New
// returns.
func Together(spec Spec, start time.Time, step time.Duration, demands []float64) ([]*Workload, error) {
	out := make([]*Workload, len(demands))
	for i, demand := range demands {
		w, err := New(spec, start, step, demand)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			w.cluster.nodes, w.cluster.guest = out[0].cluster.nodes, true
			out[i-1].cluster.silent = true
		}
		out[i] = w
		spec.Seed++
	}
	return out, nil
}

// keepReady changes how many places are held. More are taken from those that are free, and fewer are free from a step on.
func (n *nodes) keepReady(step, places int) {
	surplus := n.held - places
	n.hold = places
	if surplus > 0 {
		n.held = places
		n.release(step, surplus)
		return
	}
	n.held += n.take(places - n.held)
}

package sim

import "time"

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
	out := make([]*Workload, len(demands))
	for i, demand := range demands {
		w, err := newWorkload(spec, start, step, demand)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			w.cluster.nodes, w.cluster.notFirst = out[0].cluster.nodes, true
			out[i-1].cluster.notLast = true
		}
		out[i] = w
		spec.Seed++
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

package hpasim

import "math/rand/v2"

// cluster holds the pods of one workload. A pod is ready after its lead time, which begins when there is a place for it.
// Pods stop at once; those that are not ready go first, the newest of them before the others, as the controller of
// ReplicaSets chooses.
type cluster struct {
	// ready serve, starting have a place and are under way, waiting have no place yet.
	ready    int
	starting arrivals
	waiting  int
	// queued counts the pods that found no place when they were asked for.
	queued int
	// nodes is nil where there is always a place. Of clusters that share them all but the first are guests, who do not move
	// them on, and all but the last are silent on what is free of them; told is how many of its pods they know to wait.
	nodes         *nodes
	guest, silent bool
	told          int
	// random is nil where nothing is drawn.
	random *rand.Rand
}

func newCluster(k *kind, ready int) cluster {
	out := cluster{ready: ready, starting: newArrivals(k.longest)}
	if k.nodes != nil {
		out.nodes = newNodes(k.nodes, k.length)
	}
	if k.nodes != nil || !k.constant {
		out.random = rand.New(rand.NewPCG(k.seed, 0)) //nolint:gosec // A simulation must repeat itself.
	}
	return out
}

// replicas are all pods that are asked for.
func (c *cluster) replicas() int { return c.ready + c.starting.total + c.waiting }

// held are the places that are paid for: a pod holds its own from the start, and a node all that it has.
func (c *cluster) held() int {
	held := c.ready + c.starting.total
	if c.nodes != nil && !c.silent {
		return held + c.nodes.free()
	}
	return held
}

// advance lets come up what is due at a step.
func (c *cluster) advance(k *kind, step int) {
	c.ready += c.starting.take(step)
	if c.nodes == nil {
		return
	}
	if !c.guest {
		c.nodes.advance(step)
	}
	c.place(k, step)
}

// scale starts or stops pods.
func (c *cluster) scale(k *kind, step, to int) {
	surplus := c.replicas() - to
	if surplus <= 0 {
		c.waiting -= surplus
		c.place(k, step)
		if c.waiting > 0 { // Those that have waited for longer are placed first.
			c.queued += min(-surplus, c.waiting)
		}
		return
	}
	waiting := min(surplus, c.waiting)
	c.waiting -= waiting
	starting := c.starting.cancel(step, surplus-waiting)
	ready := surplus - waiting - starting
	c.ready -= ready
	if c.nodes != nil {
		c.tell()
		c.nodes.release(step, starting+ready)
	}
}

// place starts what waits, as far as there are places, and sends for nodes for the rest.
func (c *cluster) place(k *kind, step int) {
	placed := c.waiting
	if c.nodes != nil {
		c.tell()
		placed = c.nodes.claim(step, c.waiting, c.random)
		c.told -= placed
	}
	c.waiting -= placed
	if k.constant {
		c.start(step, k.steps, placed)
		return
	}
	for range placed {
		c.start(step, stepsIn(k.pod.Draw(c.random), k.length), 1)
	}
}

// tell says how many pods wait.
func (c *cluster) tell() {
	c.nodes.waiting += c.waiting - c.told
	c.told = c.waiting
}

func (c *cluster) start(step, lead, pods int) {
	if lead > 0 {
		c.starting.add(step+lead, pods)
	} else {
		c.ready += pods
	}
}

package sim

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
	// random is nil where nothing is random.
	random *draws
	// risk is what ready replicas have run since the last interruption, and fatal where the next one comes, both in interruptions.
	risk, fatal float64
}

func newCluster(k *settings, ready int) cluster {
	out := cluster{ready: ready}
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
	held := c.ready + c.starting.total
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
		c.nodes.release(step, starting+ready)
	}
}

// place starts waiting pods where there are places, and requests nodes for the rest.
func (c *cluster) place(k *settings, step int) {
	placed := c.waiting
	if c.nodes != nil {
		c.reportWaiting()
		placed = c.nodes.claim(step, c.waiting, c.random)
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
	c.nodes.waiting += c.waiting - c.reported
	c.reported = c.waiting
}

func (c *cluster) start(step, lead, pods int) {
	if lead > 0 {
		c.starting.add(step+lead, pods)
	} else {
		c.ready += pods
	}
}

package fleets

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// capacity is how many GPUs a fleet has.
type capacity struct {
	gpus float64
	// nodes are the nodes of the fleet; nil if the GPUs are not counted on nodes.
	nodes map[string]bool
	// reason and message are those of the condition CapacityKnown. Without known, there is no plan.
	reason, message string
	known           bool
	// pending: it will be known soon, so that there is nothing to say yet.
	pending bool
}

// unreadable returns the capacity of a fleet for which something cannot be read.
func unreadable(err error) capacity {
	return capacity{reason: v1alpha1.FleetReasonUnreadable, message: err.Error(), pending: errors.Is(err, ErrUnread)}
}

// capacityOf counts the GPUs of a fleet.
func (p *Planner) capacityOf(f *Fleet) capacity {
	switch gpus := &f.Spec.GPUs; {
	case f.Resolved.Nodes != nil:
		return p.nodeCapacity(f)
	case gpus.ClusterQueue != nil:
		return p.queueCapacity(f, gpus.ClusterQueue.Name)
	default:
		n := float64(gpus.Count)
		text := fleet.GPUCount(n) + " by spec.gpus.count"
		return capacity{gpus: n, known: true, reason: v1alpha1.FleetReasonCounted, message: text}
	}
}

func (p *Planner) nodeCapacity(f *Fleet) capacity {
	nodes, err := p.Cluster.Nodes()
	if err != nil {
		return unreadable(err)
	}
	out := capacity{known: true, nodes: map[string]bool{}}
	unusable := 0
	for _, n := range nodes {
		switch {
		case !f.Resolved.Nodes.Matches(labels.Set(n.Labels)):
		case !n.Usable:
			unusable++
		default:
			out.nodes[n.Name] = true
			out.gpus += n.Resources[f.Resolved.Resource]
		}
	}
	out.reason = v1alpha1.FleetReasonCounted
	on := humanize.Plural(len(out.nodes), "node")
	out.message = fmt.Sprintf("%s (%s) on %s", fleet.GPUCount(out.gpus), f.Resolved.Resource, on)
	if unusable > 0 {
		out.message += fmt.Sprintf("; %s not counted: cordoned or not ready", humanize.Plural(unusable, "node"))
	}
	if out.gpus == 0 {
		out.reason = v1alpha1.FleetReasonNoGPUs
		out.message += fmt.Sprintf(": correct spec.gpus.nodeSelector (%s) or spec.resource", f.Resolved.Nodes)
	}
	return out
}

func (p *Planner) queueCapacity(f *Fleet, name string) capacity {
	queue, err := p.Cluster.Queue(name)
	switch {
	case err != nil:
		return unreadable(err)
	case queue == nil:
		return capacity{reason: v1alpha1.FleetReasonQueueNotFound, message: fmt.Sprintf(
			"the ClusterQueue %s does not exist: correct spec.gpus.clusterQueue.name, or create it", name)}
	}
	out := capacity{gpus: queue.Quota[f.Resolved.Resource], known: true, reason: v1alpha1.FleetReasonCounted}
	const text = "%s (%s) by the nominal quota of the ClusterQueue %s"
	out.message = fmt.Sprintf(text, fleet.GPUCount(out.gpus), f.Resolved.Resource, name)
	if out.gpus <= 0 {
		out.gpus, out.reason = 0, v1alpha1.FleetReasonNoGPUs
		out.message += ": add the resource to the quota, or correct spec.resource"
	}
	return out
}

// checkMinimums says so if the GPUs are not enough for the minimums of the members.
func (c *capacity) checkMinimums(minimums float64) {
	const rounding = 1e-9 // 25 × 0.28 is 7.000000000000001.
	if c.reason == v1alpha1.FleetReasonCounted && minimums > c.gpus*(1+rounding) {
		c.reason = v1alpha1.FleetReasonBelowMinimums
		const text = ", but the minimums of the members need %s: lower minReplicas, or add GPUs"
		c.message += fmt.Sprintf(text, fleet.GPUCount(minimums))
	}
}

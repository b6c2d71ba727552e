package fleets

import (
	"cmp"
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// batch is what the pods of a fleet show at a step.
type batch struct {
	// running is how many replicas of each consumer hold or wait for GPUs, in the order of the spec.
	running []int
	// refused are the consumers to which nothing must be served, with the reasons.
	refused map[string]string
	// other are the GPUs of pods that belong neither to members nor to the consumers that are served.
	other float64
	// reason is the reason of the first problem; empty if there is none. problems say what to do.
	reason   string
	problems []string
}

// batchOf counts the batch pods of a fleet, and checks whether they are safe.
func (p *Planner) batchOf(f *Fleet, c capacity, r *membership) (batch, error) {
	pods, err := p.Cluster.Pods(f.Namespace)
	if err != nil {
		return batch{}, err
	}
	r.checkRequests(pods, f.Resolved.Resource)
	out := batch{running: make([]int, len(f.Resolved.Batch)), refused: map[string]string{}}
	of := make([][]*Pod, len(f.Resolved.Batch))
	lowest := int64(math.MaxInt64)
	var others, refused []*Pod
	for _, pod := range pods {
		consumer := -1
		switch own := pod.Namespace == f.Namespace; {
		case pod.Requests[f.Resolved.Resource] == 0:
			continue
		case own && r.owns(pod):
			lowest = min(lowest, int64(pod.Priority))
			continue
		case own:
			consumer = f.consumerOf(pod)
		}
		switch {
		case consumer < 0:
			others = append(others, pod)
		case !pod.Held:
			of[consumer] = append(of[consumer], pod)
		}
	}
	for i := range of {
		b := &f.Resolved.Batch[i]
		out.running[i] = len(of[i])
		out.check(b, f, of[i], lowest)
		if out.refused[b.Name] != "" {
			refused = append(refused, of[i]...)
		}
	}
	for _, pod := range refused { // A fleet that counts no nodes sees these pods, too.
		if c.nodes == nil || c.nodes[pod.Node] {
			out.other += pod.Requests[f.Resolved.Resource]
		}
	}
	for _, pod := range others {
		if c.nodes[pod.Node] {
			out.other += pod.Requests[f.Resolved.Resource]
		}
	}
	return out, nil
}

// consumerOf returns the index of the first consumer whose selector matches a pod; −1 if there is none.
func (f *Fleet) consumerOf(pod *Pod) int {
	for i := range f.Resolved.Batch {
		if f.Resolved.Batch[i].Selector.Matches(pod.Labels) {
			return i
		}
	}
	return -1
}

// check looks for what is unsafe about the pods of a consumer. lowest is the lowest priority of the members' pods.
func (b *batch) check(of *manifest.FleetBatch, f *Fleet, pods []*Pod, lowest int64) {
	var short, high, large *Pod
	for _, pod := range pods {
		if (pod.Controller == "ReplicaSet" || pod.Controller == "StatefulSet") && pod.Grace < of.Run {
			short = firstByName(short, pod)
		}
		if int64(pod.Priority) >= lowest {
			high = firstByName(high, pod)
		}
		if pod.Requests[f.Resolved.Resource] > of.GPUs*(1+1e-9) {
			large = firstByName(large, pod)
		}
	}
	if short != nil {
		const text = "a %s controls the pod %s, which has %s to end (terminationGracePeriodSeconds), " +
			"but a run takes %s: use Jobs or a ScaledJob, or set terminationGracePeriodSeconds: %.0f"
		grace, run := humanize.Span(short.Grace), humanize.Span(of.Run)
		why := fmt.Sprintf(text, short.Controller, short.Name, grace, run, of.Run.Seconds())
		b.refused[of.Name] = why
		b.add(v1alpha1.FleetReasonRunsCutShort, of.Name+" is refused: "+why)
	}
	if high != nil {
		const text = "%s: the pod %s has the priority %d, which is not below %d, the lowest of the members' pods: " +
			"give the batch pods a PriorityClass with a lower value, so that the scheduler can make room for members"
		b.add(v1alpha1.FleetReasonPriorityNotLower, fmt.Sprintf(text, of.Name, high.Name, high.Priority, lowest))
	}
	if large != nil {
		const text = "%s: the pod %s requests %s, more than spec.batch says: set gpus of the consumer to " +
			"what a pod requests"
		requests := fleet.GPUCount(large.Requests[f.Resolved.Resource])
		b.add(v1alpha1.FleetReasonRequestsMore, fmt.Sprintf(text, of.Name, large.Name, requests))
	}
}

// firstByName returns the pod with the first name, so that a message does not change at every step.
func firstByName(a, b *Pod) *Pod {
	if a != nil && a.Name < b.Name {
		return a
	}
	return b
}

func (b *batch) add(reason, text string) {
	b.reason = cmp.Or(b.reason, reason)
	b.problems = append(b.problems, text)
}

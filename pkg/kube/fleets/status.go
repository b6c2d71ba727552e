package fleets

import (
	"fmt"
	"math"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// status returns the status of a fleet with rounded numbers.
func (o *planned) status(now time.Time) *v1alpha1.GPUFleetStatus {
	out := &v1alpha1.GPUFleetStatus{ObservedGeneration: o.Generation}
	if o.hasPlan() {
		out.GPUs, out.Members = fleet.Number(o.Plan.GPUs), fleet.Number(o.Plan.Members)
		out.Other = fleet.Number(o.Plan.Other)
		out.Message = v1alpha1.Clip(o.message())
		var spare []string
		for i := range o.Resolved.Batch {
			b := o.batchStatus(i)
			out.Batch, spare = append(out.Batch, b), append(spare, fmt.Sprintf("%s %d", b.Name, b.Replicas))
		}
		out.Spare = strings.Join(spare, ", ")
	}
	for _, one := range o.conditions() {
		one.ObservedGeneration = o.Generation
		v1alpha1.AddCondition(&out.Conditions, one, o.Status.Conditions, now)
	}
	return out
}

// batchStatus returns the status of a consumer. A refused consumer may use nothing.
func (o *planned) batchStatus(i int) v1alpha1.FleetBatchStatus {
	name := o.Resolved.Batch[i].Name
	running := int32(min(o.batch.running[i], math.MaxInt32)) //nolint:gosec // Limited.
	out := v1alpha1.FleetBatchStatus{Name: name, Running: running}
	for j := range o.Plan.Batch {
		if b := &o.Plan.Batch[j]; b.Name == name {
			out.Replicas = int32(b.Replicas) //nolint:gosec // At most ten million.
			out.Need = fleet.Number(math.Min(b.Need, o.Plan.GPUs))
		}
	}
	return out
}

// message explains the numbers of each consumer.
func (o *planned) message() string {
	texts := make([]string, len(o.Plan.Batch))
	for i := range o.Plan.Batch {
		texts[i] = o.Plan.Message(&o.Plan.Batch[i])
		if len(o.Plan.Batch) > 1 {
			texts[i] = o.Plan.Batch[i].Name + ": " + texts[i]
		}
	}
	return strings.Join(texts, " ")
}

// conditions returns all conditions of a fleet.
func (o *planned) conditions() []metav1.Condition {
	var out []metav1.Condition
	if o.spec != nil {
		out = append(out, *o.spec)
	}
	if o.Fleet.Problem != "" {
		const kind = v1alpha1.FleetConditionReady
		return append(out, condition(kind, metav1.ConditionFalse, v1alpha1.FleetReasonInvalid, o.Fleet.Problem))
	}
	out = append(out, o.readyCondition(), o.membersCondition(), o.capacityCondition())
	if o.hasPlan() {
		out = append(out, o.batchCondition(), o.shortageCondition())
	}
	return out
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func (o *planned) readyCondition() metav1.Condition {
	const kind = v1alpha1.FleetConditionReady
	switch {
	case !o.hasPlan():
		return condition(kind, metav1.ConditionFalse, v1alpha1.FleetReasonNoPlan, o.capacity.message)
	case len(o.Plan.Unknown) > 0:
		return condition(kind, metav1.ConditionFalse, v1alpha1.FleetReasonMembersUnknown,
			"all replicas that they may have are kept: "+writes.FirstOf(o.Plan.Unknown))
	}
	return condition(kind, metav1.ConditionTrue, v1alpha1.FleetReasonPlanned, "all members are forecast")
}

func (o *planned) membersCondition() metav1.Condition {
	const kind = v1alpha1.FleetConditionMembersResolved
	if r := &o.members; r.reason != "" {
		return condition(kind, metav1.ConditionFalse, r.reason, strings.Join(r.problems, "; "))
	}
	text := humanize.Plural(len(o.members.members), "member")
	return condition(kind, metav1.ConditionTrue, v1alpha1.FleetReasonResolved, text)
}

func (o *planned) capacityCondition() metav1.Condition {
	status := metav1.ConditionFalse
	if o.capacity.reason == v1alpha1.FleetReasonCounted {
		status = metav1.ConditionTrue
	}
	return condition(v1alpha1.FleetConditionCapacityKnown, status, o.capacity.reason, o.capacity.message)
}

func (o *planned) batchCondition() metav1.Condition {
	const kind = v1alpha1.FleetConditionBatchSafe
	running := 0
	for _, n := range o.batch.running {
		running += n
	}
	switch b := &o.batch; {
	case b.reason != "":
		return condition(kind, metav1.ConditionFalse, b.reason, strings.Join(b.problems, "; "))
	case running == 0:
		const text = "no pod matches the selectors in spec.batch"
		return condition(kind, metav1.ConditionUnknown, v1alpha1.FleetReasonNoBatchPods, text)
	}
	// The number of pods would change the message at every step.
	const text = "the batch pods end by themselves or in time, and have a lower priority than the members"
	return condition(kind, metav1.ConditionTrue, v1alpha1.FleetReasonSafe, text)
}

func (o *planned) shortageCondition() metav1.Condition {
	const kind = v1alpha1.FleetConditionShortage
	if o.shortage != nil {
		return condition(kind, metav1.ConditionTrue, v1alpha1.FleetReasonShortageAhead, o.shortage.Message())
	}
	const text = "the GPUs are enough for the members in the next day"
	return condition(kind, metav1.ConditionFalse, v1alpha1.FleetReasonEnough, text)
}

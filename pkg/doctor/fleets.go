package doctor

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// checkFleets: are GPUFleets valid, and is anything wrong with their members, GPUs and batch work?
func checkFleets(_ context.Context, _ *Doctor, s *state) (out []Finding) {
	for i := range s.fleets {
		out = append(out, checkFleet(&s.fleets[i])...)
	}
	return out
}

func checkFleet(stored *unstructured.Unstructured) (out []Finding) {
	const check = "GPUFleets"
	object := "GPUFleet " + stored.GetNamespace() + "/" + stored.GetName()
	fleet, err := manifest.FleetFromObject(stored.Object)
	if err == nil {
		_, problems := manifest.ResolveFleet(fleet)
		err = problems.ToAggregate()
	}
	if err != nil {
		return []Finding{{
			Check: check, Level: Error, Object: object, Message: err.Error(), Remedy: "correct the GPUFleet",
		}}
	}
	v1alpha1.ReadStatus(stored, &fleet.Status)
	if len(fleet.Status.Conditions) == 0 {
		return []Finding{{
			Check: check, Level: Warning, Object: object, Message: "has no status yet",
			Remedy: "wait a minute; then see the log of Forewarm",
		}}
	}
	for _, c := range fleet.Status.Conditions {
		// A shortage ahead is no fault of the installation, and the reason that a fleet is not ready is in the other conditions.
		if c.Status != metav1.ConditionFalse || c.Type == v1alpha1.FleetConditionShortage ||
			c.Reason == v1alpha1.FleetReasonNoPlan {
			continue
		}
		f := Finding{
			Check: check, Level: Error, Object: object, Message: c.Reason + ": " + c.Message,
			Remedy: "see docs/reference/conditions.md, " + c.Type,
		}
		if c.Reason == v1alpha1.FleetReasonMembersUnknown {
			f.Level = Warning
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		text := "its members and its GPUs are known"
		out = append(out, Finding{Check: check, Level: OK, Object: object, Message: text})
	}
	return out
}

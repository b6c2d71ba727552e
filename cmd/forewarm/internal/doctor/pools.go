package doctor

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/pool"
)

// checkPools: does the cluster support what WarmPools ask for, and does a quota refuse it?
func checkPools(ctx context.Context, d *Doctor, s *state) []Finding {
	var out []Finding
	for i := range s.pools {
		out = append(out, d.checkPool(ctx, &s.pools[i])...)
	}
	return out
}

func (d *Doctor) checkPool(ctx context.Context, stored *unstructured.Unstructured) []Finding {
	const name = "WarmPools"
	object := "WarmPool " + stored.GetNamespace() + "/" + stored.GetName()
	invalid := func(text string) []Finding {
		return []Finding{{Check: name, Level: Error, Object: object, Message: text, Remedy: "correct the WarmPool"}}
	}
	read, err := pool.FromObject(stored.Object)
	if err != nil {
		return invalid(err.Error())
	}
	resolved, problems := pool.Resolve(read)
	if len(problems) > 0 {
		return invalid(manifest.JoinProblems(problems))
	}
	p := resolved.Object
	v1alpha1.ReadStatus(stored, &p.Status)
	var out []Finding
	for _, kind := range []string{v1alpha1.PoolConditionActuated, v1alpha1.PoolConditionMembersResolved} {
		if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			out = append(out, Finding{
				Check: name, Level: Error, Object: object, Message: c.Reason + ": " + c.Message,
				Remedy: "see docs/reference/conditions.md, " + kind,
			})
		}
	}
	if p.Spec.Actuator.CapacityBuffer != nil {
		out = append(out, d.buffers(object)...)
	}
	if p.Spec.Actuator.PlaceholderPods != nil {
		out = append(out, d.quotas(ctx, p, object)...)
	}
	if len(out) == 0 {
		out = append(out, Finding{Check: name, Level: OK, Object: object, Message: "the cluster can hold its capacity"})
	}
	return out
}

// buffers is whether the cluster has CapacityBuffers in the version that Forewarm writes. Whether an autoscaler provides for
// them shows once there is one: the condition Actuated has it.
func (d *Doctor) buffers(object string) []Finding {
	const group, version = "autoscaling.x-k8s.io", "v1beta1"
	const advice = "install the CRD CapacityBuffer and an autoscaler for it (Cluster Autoscaler 1.35 or Karpenter 1.14, both " +
		"behind a flag; GKE), or use spec.actuator.placeholderPods"
	groups, err := d.clients.Discovery().ServerGroups()
	if err != nil {
		return []Finding{unread("CapacityBuffers", "the API groups of the cluster", err)}
	}
	f := Finding{
		Check: "CapacityBuffers", Level: Error, Object: object,
		Message: "the cluster does not have CapacityBuffers (" + group + "/" + version + ")", Remedy: advice,
	}
	for _, g := range groups.Groups {
		if g.Name != group {
			continue
		}
		var versions []string
		for _, v := range g.Versions {
			versions = append(versions, v.Version)
		}
		if slices.Contains(versions, version) {
			return nil
		}
		f.Message += ": it has " + join(versions)
		f.Remedy = "upgrade the CRD CapacityBuffer and its autoscaler, or use spec.actuator.placeholderPods"
	}
	return []Finding{f}
}

// quotas is whether a ResourceQuota refuses the pods that a pool makes room for.
func (d *Doctor) quotas(ctx context.Context, p *v1alpha1.WarmPool, object string) []Finding {
	text, err := pools.QuotaWarning(ctx, d.clients, p)
	switch {
	case err != nil:
		return []Finding{unread("Quotas", "the ResourceQuotas of "+p.Namespace, err)}
	case text != "":
		return []Finding{{
			Check: "Quotas", Level: Error, Object: object, Message: text, Remedy: "see docs/warm-pools.md",
		}}
	}
	return nil
}

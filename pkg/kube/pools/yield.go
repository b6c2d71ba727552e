package pools

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// yield lowers what placeholder pods hold by what the members' replicas wait for, where the scheduler does not preempt: the
// pool would keep from its members what it holds for them. A Deployment that shrinks deletes pending pods first, so these
// are subtracted too.
//
// Whether it preempts may not show in the template: a DeviceClass can stand for nvidia.com/gpu. So replicas that wait at
// two steps beside a full pool count as well.
func (v *poolStep) yield(want Desired, members []warmpool.Member) Desired {
	waiting := 0.0
	for _, m := range members {
		waiting += m.Chunks * float64(m.Waiting)
	}
	c, waited := v.capacity(), v.waited
	v.waited = waiting > 0 && c.Ready > 0
	if !v.waited || v.Spec.Actuator.PlaceholderPods == nil ||
		isPreempted(&v.Spec.Chunk.PodTemplate.Spec) && (!waited || c.Ready < c.Held) {
		return want
	}
	less := int(math.Ceil(waiting)) + c.Held - c.Ready
	tail := min(less, want.Tail)
	return Desired{Base: max(0, want.Base-(less-tail)), Tail: want.Tail - tail}
}

// isPreempted reports whether kube-scheduler preempts placeholder pods of a template for what they hold. It does not for
// devices that pods claim (Kubernetes 1.36; KEP-5690 is to change that), nor for shares of GPUs that a scheduler extender
// gives: it does not ask extenders which victims would help (kubernetes/kubernetes#139270).
func isPreempted(spec *corev1.PodSpec) bool {
	if len(templateClaims(spec.ResourceClaims)) > 0 {
		return false
	}
	for name := range chunkResources(spec).Requests {
		if manifest.SharedByExtender(name) {
			return false
		}
	}
	return true
}

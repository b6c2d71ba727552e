package pools

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const (
	// yieldTime is enough for a scheduler to place what waits.
	yieldTime = 2 * time.Minute
	// yieldEvery is how often it is tried again.
	yieldEvery = 10 * yieldTime
)

// yield lowers what placeholder pods hold by what the members' replicas wait for, where the scheduler does not preempt: the
// pool would keep from its members what it holds for them. A Deployment that shrinks deletes pending pods first, so these
// are subtracted too.
//
// Whether it preempts may not show in the template: a DeviceClass can stand for nvidia.com/gpu. So replicas that wait at
// two steps beside a full pool count as well. As many that wait for longer than yieldTime wait for something else: the pool
// gives up nothing for them, but for that time in every yieldEvery.
func (v *poolStep) yield(now time.Time, want Desired, members []warmpool.Member) Desired {
	c, waiting, before := v.capacity(), 0.0, v.waiting
	for _, m := range members {
		waiting += m.Chunks * float64(m.Waiting)
	}
	if waiting != before {
		v.waiting, v.waitingSince = waiting, now
	}
	if waiting == 0 || c.Ready == 0 || v.Spec.Actuator.PlaceholderPods == nil ||
		now.Sub(v.waitingSince)%yieldEvery > yieldTime ||
		isPreempted(&v.Spec.Chunk.PodTemplate.Spec) && (before == 0 || c.Ready < c.Held) {
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

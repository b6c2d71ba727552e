package pools

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// The labels of a pool's objects and pods. They have none of the template's labels, by which Services and autoscalers
// would count them as replicas.
const (
	labelPool     = "forewarm.dev/warm-pool"
	labelCapacity = "forewarm.dev/capacity-type"
	labelManager  = "app.kubernetes.io/managed-by"
	managedBy     = "forewarm"
)

// maxNameLength bounds a label's value, and a name from which pods are named.
const maxNameLength = 63

// selectorLabels returns the labels that select a pool's objects of a capacity type.
func selectorLabels(pool *v1alpha1.WarmPool, capacity string) map[string]string {
	out := map[string]string{labelPool: boundedName(pool.Name, pool.Name)}
	if capacity != "" {
		out[labelCapacity] = capacity
	}
	return out
}

// nameFor returns the name of a pool's objects of a capacity type. With a capacity type the name ends in a hash: the
// pool a-spot and the type spot of the pool a must differ.
func nameFor(pool *v1alpha1.WarmPool, capacity string) string {
	name := "warm-" + strings.ReplaceAll(pool.Name, ".", "-")
	whole := "warm-" + pool.Name
	if capacity == "" {
		return boundedName(name, whole)
	}
	return hashedName(name+"-"+capacity, whole+"/"+capacity)
}

// boundedName returns a name unchanged if it is complete and short enough, else one that ends in a hash of the whole.
func boundedName(name, whole string) string {
	if name == whole && len(name) <= maxNameLength {
		return name
	}
	return hashedName(name, whole)
}

func hashedName(name, whole string) string {
	sum := sha256.Sum256([]byte(whole))
	suffix := "-" + hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:min(len(name), maxNameLength-len(suffix))], "-.") + suffix
}

// capacityTypes returns the capacity types of a pool: one without a name where it has none.
func capacityTypes(pool *v1alpha1.WarmPool) []v1alpha1.CapacityType {
	if len(pool.Spec.CapacityTypes) == 0 {
		return []v1alpha1.CapacityType{{}}
	}
	return pool.Spec.CapacityTypes
}

// share returns how many chunks of the i-th of n capacity types are wanted. A single type has all.
func (w Desired) share(i, n int) int {
	switch {
	case n == 1:
		return w.Base + w.Tail
	case i == 0:
		return w.Base
	}
	return w.Tail
}

package actuator

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// What the pool's objects and pods are labelled with. Their selectors are made of these alone: they bear none of the
// template's labels, by which Services and autoscalers would take them for replicas.
const (
	labelPool     = "forewarm.dev/warm-pool"
	labelCapacity = "forewarm.dev/capacity-type"
	labelManager  = "app.kubernetes.io/managed-by"
	manager       = "forewarm"
)

// longest is what a label's value may have, and a name that pods are to be named by.
const longest = 63

// selecting are the labels by which what a pool holds of a capacity type is found.
func selecting(pool *v1alpha1.WarmPool, capacity string) map[string]string {
	out := map[string]string{labelPool: bounded(pool.Name, pool.Name)}
	if capacity != "" {
		out[labelCapacity] = capacity
	}
	return out
}

// nameFor is what the pool's objects for a capacity type are called. Where there is one, the name ends in a hash: the pool
// a-spot and the type spot of the pool a are not the same.
func nameFor(pool *v1alpha1.WarmPool, capacity string) string {
	name := "warm-" + strings.ReplaceAll(pool.Name, ".", "-")
	whole := "warm-" + pool.Name
	if capacity == "" {
		return bounded(name, whole)
	}
	return hashed(name+"-"+capacity, whole+"/"+capacity)
}

// bounded is a name as it is where it is the whole and short enough, else one that ends in a hash of the whole.
func bounded(name, whole string) string {
	if name == whole && len(name) <= longest {
		return name
	}
	return hashed(name, whole)
}

func hashed(name, whole string) string {
	sum := sha256.Sum256([]byte(whole))
	suffix := "-" + hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:min(len(name), longest-len(suffix))], "-.") + suffix
}

// capacities are the capacity types of a pool: one without a name where it has none.
func capacities(pool *v1alpha1.WarmPool) []v1alpha1.CapacityType {
	if len(pool.Spec.CapacityTypes) == 0 {
		return []v1alpha1.CapacityType{{}}
	}
	return pool.Spec.CapacityTypes
}

// share is how many chunks of the i-th of n capacity types are wanted. With one type it holds all.
func (w Want) share(i, n int) int {
	switch {
	case n == 1:
		return w.Base + w.Tail
	case i == 0:
		return w.Base
	}
	return w.Tail
}

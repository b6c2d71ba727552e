package pools

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// PendingTimeout is how long a placeholder may wait before something is said of it.
const PendingTimeout = pendingTimeout

// PlaceholderDeployments are the Deployments of a pool that is to hold so much, without image volumes left out.
func PlaceholderDeployments(pool *v1alpha1.WarmPool, want Desired) []any {
	var out []any
	all := capacityTypes(pool)
	for i, capacity := range all {
		out = append(out, placeholderDeployment(pool, capacity, want.share(i, len(all))))
	}
	return out
}

// NameFor is what the pool's objects for a capacity type are called.
func NameFor(pool *v1alpha1.WarmPool, capacity string) string { return nameFor(pool, capacity) }

// Without says that the cluster's API server has no image volumes.
func (b *Dispatcher) Without() {
	b.placeholders.imagesKnown, b.placeholders.images = true, false
}

// ReadBuffer says what is made of a buffer's status, given as JSON.
func ReadBuffer(fields map[string]any, now time.Time) (ready int32, remark string, err error) {
	b, err := decode[buffer](fields)
	if err != nil {
		return 0, "", err
	}
	return b.ready(now, 5*time.Minute), b.warning(now), nil
}

// ReadPool is a pool as the watch reads it.
func ReadPool(object *unstructured.Unstructured) *Pool { return newPool(object) }

// The memory of a pool, to its status and back.
var (
	MemoryOf = memoryOf
	MemoryIn = memoryIn
)

// FormatGPUHours are GPU-hours for people.
func FormatGPUHours(v float64) string { return formatGPUHours(v) }

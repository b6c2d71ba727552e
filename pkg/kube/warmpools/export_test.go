package warmpools

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ReadPool is a pool as the watch reads it.
func ReadPool(object *unstructured.Unstructured) *Pool { return newPool(object) }

// The memory of a pool, to its status and back.
var (
	MemoryOf = memoryOf
	MemoryIn = memoryIn
)

// FormatGPUHours are GPU-hours for people.
func FormatGPUHours(v float64) string { return formatGPUHours(v) }

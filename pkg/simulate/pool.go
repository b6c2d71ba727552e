package simulate

import (
	"time"

	"github.com/forewarm/forewarm/pkg/workload"
)

// Pool decides how much capacity waits for replicas.
type Pool interface {
	// Hold takes how the workloads stand at a time and returns how many places to hold for all of them until it is asked
	// again, beside those that replicas have. Nothing that arrives then or later is known.
	Hold(at time.Time, all []workload.Standing) int
}

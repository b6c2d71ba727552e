package policy

import (
	"cmp"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// autoscalers are the simulated autoscalers of a policy, with the same refresh period.
type autoscalers struct {
	*hpasim.Autoscalers
	refresh time.Duration
	started bool
}

// newAutoscalers has the workload's HPA but for its target, which is the full capacity of a replica, and its stabilization,
// which is in what is served.
func newAutoscalers(c simulate.Config, n int) (*autoscalers, error) {
	c.HPA = withoutStabilization(c.HPA)
	if len(c.HPA.Metrics) == 1 {
		metric := c.HPA.Metrics[0]
		metric.Target = int64(math.Round(c.Capacity * 1000))
		c.HPA.Metrics = append(c.HPA.Metrics[:0:0], metric)
	}
	refresh := cmp.Or(c.Refresh, c.Sync, hpasim.DefaultSync)
	played, err := hpasim.NewAutoscalers(c.Spec, n, c.Demand.Start, refresh)
	return &autoscalers{Autoscalers: played, refresh: refresh}, err
}

// play plays the step that has ended. The first call has no step before it.
func (s *autoscalers) play(values []float64, arrived float64) {
	if s.started {
		s.Play(values, arrived)
	}
	s.started = true
}

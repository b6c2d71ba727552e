package policy

import (
	"cmp"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// shadows are workloads beside the real one, asked as often as the policy is.
type shadows struct {
	*hpasim.Shadows
	refresh time.Duration
	started bool
}

// newShadows has the workload's HPA but for its target, which is the full capacity of a replica, and its stabilization,
// which is in what is served.
func newShadows(c simulate.Config, n int) (*shadows, error) {
	c.HPA = unstabilized(c.HPA)
	if len(c.HPA.Metrics) == 1 {
		metric := c.HPA.Metrics[0]
		metric.Target = int64(math.Round(c.Capacity * 1000))
		c.HPA.Metrics = append(c.HPA.Metrics[:0:0], metric)
	}
	refresh := cmp.Or(c.Refresh, c.Sync, hpasim.DefaultSync)
	played, err := hpasim.NewShadows(c.Spec, n, c.Demand.Start, refresh)
	return &shadows{Shadows: played, refresh: refresh}, err
}

// play plays the step that has ended. The first call has no step before it.
func (s *shadows) play(values []float64, arrived float64) {
	if s.started {
		s.Play(values, arrived)
	}
	s.started = true
}

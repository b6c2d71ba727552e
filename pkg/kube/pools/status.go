package pools

import (
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

// poolReport is the input of a pool's status at a step.
type poolReport struct {
	poolStep
	plan    warmpool.Plan
	members membership
	lead    leadTimes
	// notice is how long before its use a cover is announced to all replicas.
	notice time.Duration
}

// status returns the status: rounded, for people.
func (s *poolReport) status(now time.Time) *v1alpha1.WarmPoolStatus {
	capacity := s.capacity()
	status := &v1alpha1.WarmPoolStatus{
		ObservedGeneration: s.Generation,
		State:              s.state(),
		Wanted:             int32(s.plan.Want),    //nolint:gosec // At most max.
		Held:               int32(capacity.Held),  //nolint:gosec // As many as were asked for.
		Ready:              int32(capacity.Ready), //nolint:gosec // At most Held.
		IdleToday:          formatGPUHours(s.plan.Idle),
		LeadTime:           formatDuration(s.lead.pod),
		NodeLeadTime:       formatDuration(s.lead.node),
		LeadTimeSource:     v1alpha1.Clip(s.lead.source),
		Message:            v1alpha1.Clip(s.plan.Message),
		Next:               v1alpha1.Clip(s.plan.Next),
		Covered:            s.covered(now),
		ScaleBefore:        s.Status.ScaleBefore,
		Memory:             memoryOf(s.memory),
	}
	if s.enforced() {
		status.Borrowed = int32(s.plan.Borrowed) //nolint:gosec // At most max.
	}
	if s.seen && s.err == nil {
		status.ScaleBefore = s.held.Before
	}
	if s.Resolved.Pool.Budget > 0 {
		status.BudgetLeft = formatGPUHours(max(s.plan.Left, 0))
	}
	if len(s.held.Types) > 1 {
		status.ByCapacityType = s.held.Types
	}
	status.Conditions = s.conditions(now)
	return status
}

// state returns the state of the plan, or Recommending for a pool in mode Recommend.
func (s *poolReport) state() string {
	if !s.enforced() && (s.plan.State == warmpool.Ready || s.plan.State == warmpool.Filling) {
		return v1alpha1.PoolReasonRecommending
	}
	return string(s.plan.State)
}

// covered returns the members that the pool covers. A new cover starts a little later, so that all replicas change at
// the same time. The end of a cover is immediate: a longer lead time is the safe side.
func (s *poolReport) covered(now time.Time) []v1alpha1.Cover {
	if !s.enforced() || !s.plan.Covers || s.err != nil {
		return nil
	}
	var out []v1alpha1.Cover
	for _, m := range s.members.members {
		if m.Outlook.Unreliable != "" {
			continue
		}
		cover := v1alpha1.Cover{Forecast: m.Name, Since: metav1.NewTime(now.Add(s.notice).Truncate(time.Second))}
		for _, before := range s.Status.Covered {
			// A later time is left from a clock that was ahead.
			if before.Forecast == m.Name && !before.Since.After(cover.Since.Time) {
				cover = before
			}
		}
		out = append(out, cover)
	}
	return out
}

// formatGPUHours writes GPU-hours: above 100 without decimals, above 1 with one, below 1 with two significant digits.
func formatGPUHours(v float64) string {
	places := 0
	switch size := math.Abs(v); {
	case size >= 100, size < 1e-6:
	case size >= 1:
		places = 1
	default:
		places = 1 - int(math.Floor(math.Log10(size)))
	}
	return strconv.FormatFloat(v, 'f', places, 64) + " GPUh"
}

package warmpools

import (
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

// The states that a plan does not know.
const (
	// stateRecommending is that of a pool that holds nothing by its mode.
	stateRecommending = "Recommending"
	// stateInvalid is that of a pool with problems of its own.
	stateInvalid = "Invalid"
	// stateReleasing is that of a pool that is to be deleted and cannot give back what it holds.
	stateReleasing = "Releasing"
)

// said is all that there is to say of a pool at a step.
type said struct {
	visit
	plan warmpool.Plan
	roll roll
	lead lead
	// notice is how long before its use a cover is announced.
	notice time.Duration
}

// status is it for people: rounded, in words.
func (s *said) status(now time.Time) *v1alpha1.WarmPoolStatus {
	capacity := s.capacity()
	status := &v1alpha1.WarmPoolStatus{
		ObservedGeneration: s.Generation,
		State:              s.state(),
		Wanted:             int32(s.plan.Want),    //nolint:gosec // At most max.
		Held:               int32(capacity.Held),  //nolint:gosec // As many as were asked for.
		Ready:              int32(capacity.Ready), //nolint:gosec // At most Held.
		IdleToday:          hours(s.plan.Idle),
		LeadTime:           words(s.lead.pod),
		NodeLeadTime:       words(s.lead.node),
		LeadTimeSource:     v1alpha1.Clip(s.lead.source),
		Why:                v1alpha1.Clip(s.plan.Why),
		Next:               v1alpha1.Clip(s.plan.Next),
		Covered:            s.covered(now),
		ScaleBefore:        s.Status.ScaleBefore,
		Memory:             memoryOf(s.memory),
	}
	if s.enforced() {
		status.Borrowed = int32(s.plan.Borrowed) //nolint:gosec // At most max.
	}
	if s.seen && s.fault == nil {
		status.ScaleBefore = s.held.Before
	}
	if s.Resolved.Pool.Budget > 0 {
		status.BudgetLeft = hours(max(s.plan.Left, 0))
	}
	if len(s.held.Types) > 1 {
		status.ByCapacityType = s.held.Types
	}
	status.Conditions = s.conditions(now)
	return status
}

// state is the plan's in a word; of a pool that holds nothing by its mode there is nothing to fill.
func (s *said) state() string {
	if !s.enforced() && (s.plan.State == warmpool.Ready || s.plan.State == warmpool.Filling) {
		return stateRecommending
	}
	return string(s.plan.State)
}

// covered are the members that need not look ahead further than a pod takes. One that is new is so from a little ahead, so
// that all replicas change over at once; the end of a cover is at once, which is the side on which nothing comes late.
func (s *said) covered(now time.Time) []v1alpha1.Cover {
	if !s.enforced() || !s.plan.Covers || s.fault != nil {
		return nil
	}
	var out []v1alpha1.Cover
	for _, m := range s.roll.members {
		if m.Outlook.Doubt != "" {
			continue
		}
		cover := v1alpha1.Cover{Forecast: m.Name, Since: metav1.NewTime(now.Add(s.notice).Truncate(time.Second))}
		for _, before := range s.Status.Covered {
			// What is further ahead than notice is given was dated by a clock that was ahead.
			if before.Forecast == m.Name && !before.Since.After(cover.Since.Time) {
				cover = before
			}
		}
		out = append(out, cover)
	}
	return out
}

// hours are GPU-hours with a digit after the point, those beyond a hundred without, and those below one with two that count.
func hours(v float64) string {
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

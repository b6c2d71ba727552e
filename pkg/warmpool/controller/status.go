package controller

import (
	"math"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/statuses"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/warmpool"
	"github.com/forewarm/forewarm/pkg/warmpool/actuator"
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
		LeadTimeSource:     statuses.Clip(s.lead.source),
		Why:                statuses.Clip(s.plan.Why),
		Next:               statuses.Clip(s.plan.Next),
		Covered:            s.covered(now),
		ScaleBefore:        s.Status.ScaleBefore,
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
		status.ByCapacityType = byType(s.held.Types)
	}
	if text, err := s.memory.MarshalText(); err == nil {
		status.Memory = string(text)
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

func byType(types []actuator.Count) []v1alpha1.CapacityTypeStatus {
	out := make([]v1alpha1.CapacityTypeStatus, 0, len(types))
	for _, t := range types {
		out = append(out, v1alpha1.CapacityTypeStatus{
			Name: t.Name, Held: int32(t.Held), Ready: int32(t.Ready), //nolint:gosec // At most max.
		})
	}
	return out
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
		i := slices.IndexFunc(s.Status.Covered, func(c v1alpha1.Cover) bool { return c.Forecast == m.Name })
		if i >= 0 {
			out = append(out, s.Status.Covered[i])
			continue
		}
		out = append(
			out,
			v1alpha1.Cover{Forecast: m.Name, Since: metav1.NewTime(now.Add(s.notice).Truncate(time.Second))},
		)
	}
	return out
}

// hours are GPU-hours with a digit after the point, those beyond a hundred without, and those below one with two that count.
func hours(v float64) string {
	var text string
	switch size := math.Abs(v); {
	case size >= 100:
		text = strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 1:
		text = strconv.FormatFloat(v, 'f', 1, 64)
	case size < 1e-6:
		text = "0"
	default:
		text = decimal(v)
	}
	return text + " GPUh"
}

// decimal has two digits that count, and no exponent.
func decimal(v float64) string {
	const digits = 2
	places := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', places, 64)
}

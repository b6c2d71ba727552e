package pools

import (
	"cmp"
	"fmt"
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
	// notice is how long before its start a cover is announced to all replicas.
	notice time.Duration
}

// status returns the pool's status with rounded numbers.
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

// covered returns the members that the pool covers. A new cover starts a little later, so that all replicas change at the same time. A
// cover ends immediately, because a longer lead time is the safe side.
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
			// A later time was recorded while the clock was ahead.
			if before.Forecast == m.Name && !before.Since.After(cover.Since.Time) {
				cover = before
			}
		}
		out = append(out, cover)
	}
	return out
}

// formatGPUHours formats GPU-hours: from 100 on without decimals, from 1 on with one decimal, and below 1 with two significant digits.
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

// conditions returns all conditions of a pool.
func (s *poolReport) conditions(now time.Time) []metav1.Condition {
	actuated := s.actuatedCondition()
	out := []metav1.Condition{s.readyCondition(actuated), s.membersCondition(), s.reliableCondition()}
	if s.Resolved.Pool.Budget > 0 {
		out = append(out, s.budgetCondition())
	}
	if s.enforced() || actuated.Status != metav1.ConditionTrue {
		out = append(out, actuated)
	}
	return s.withTransitionTimes(now, out...)
}

// withTransitionTimes returns conditions of a pool, including the one about its spec, with the times of their last transitions.
func (p *Pool) withTransitionTimes(now time.Time, all ...metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	if p.spec != nil {
		all = append(all, *p.spec)
	}
	for _, one := range all {
		one.ObservedGeneration = p.Generation
		v1alpha1.AddCondition(&out, one, p.Status.Conditions, now)
	}
	return out
}

// newCondition returns a condition that is True or False.
func newCondition(kind string, holds bool, reason, message string) metav1.Condition {
	out := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if holds {
		out.Status = metav1.ConditionTrue
	}
	return out
}

func (s *poolReport) readyCondition(actuated metav1.Condition) metav1.Condition {
	state := s.state()
	switch {
	case s.enforced() && actuated.Status == metav1.ConditionFalse:
		return newCondition(v1alpha1.PoolConditionReady, false, actuated.Reason, actuated.Message)
	case state == v1alpha1.PoolReasonRecommending:
		return newCondition(v1alpha1.PoolConditionReady, false, state, fmt.Sprintf(
			"the pool holds nothing in mode Recommend; in mode Enforce it would hold %d chunks: %s", s.plan.Want,
			s.plan.Message))
	}
	return newCondition(v1alpha1.PoolConditionReady, s.plan.State == warmpool.Ready, state, s.plan.Message)
}

func (s *poolReport) membersCondition() metav1.Condition {
	if s.members.reason != "" {
		return newCondition(v1alpha1.PoolConditionMembersResolved, false, s.members.reason,
			joinFirst(append(s.members.problems, s.members.remarks...)))
	}
	message := fmt.Sprintf("%d members", len(s.members.members))
	if len(s.members.members) == 1 {
		message = "1 member"
	}
	if len(s.members.remarks) > 0 {
		message += "; " + joinFirst(s.members.remarks)
	}
	return newCondition(v1alpha1.PoolConditionMembersResolved, true, v1alpha1.PoolReasonResolved, message)
}

func (s *poolReport) reliableCondition() metav1.Condition {
	if len(s.members.unreliable) > 0 {
		return newCondition(v1alpha1.PoolConditionForecastsReliable, false, v1alpha1.PoolReasonUnreliable, fmt.Sprintf(
			"%s; until this changes, the pool holds at least its fallback of %d chunks and releases nothing",
			joinFirst(s.members.unreliable), s.Resolved.Pool.Fallback))
	}
	return newCondition(v1alpha1.PoolConditionForecastsReliable, true, v1alpha1.PoolReasonReliable,
		"the forecasts of all members are reliable")
}

func (s *poolReport) budgetCondition() metav1.Condition {
	spent := fmt.Sprintf("%s of %s were idle today (UTC)", formatGPUHours(s.plan.Idle),
		formatGPUHours(s.Resolved.Pool.Budget))
	if s.plan.State == warmpool.OverBudget {
		return newCondition(v1alpha1.PoolConditionWithinBudget, false, v1alpha1.PoolReasonBudgetSpent, fmt.Sprintf(
			"%s: the pool holds at most its fallback of %d chunks until tomorrow; raise spec.budget, or lower spec.quantile",
			spent,
			s.Resolved.Pool.Fallback,
		))
	}
	return newCondition(v1alpha1.PoolConditionWithinBudget, true, v1alpha1.PoolReasonWithinBudget, spent)
}

func (s *poolReport) actuatedCondition() metav1.Condition {
	if p := AsProblem(s.err); p != nil {
		return newCondition(v1alpha1.PoolConditionActuated, false, p.Reason, p.Message)
	}
	switch {
	case s.err != nil:
		return newCondition(v1alpha1.PoolConditionActuated, false, v1alpha1.PoolReasonRetrying, s.err.Error())
	case s.held.Warning != "":
		return newCondition(v1alpha1.PoolConditionActuated, false, v1alpha1.PoolReasonBlocked, s.held.Warning)
	}
	return newCondition(v1alpha1.PoolConditionActuated, true, v1alpha1.PoolReasonHeld,
		fmt.Sprintf("%d chunks are requested through the actuator %s",
			s.capacity().Held, cmp.Or(string(s.Resolved.Actuator), "of the pool")))
}

// invalidStatus returns the status of an invalid pool. The pool keeps the chunks that it holds.
func invalidStatus(p *Pool, now time.Time) *v1alpha1.WarmPoolStatus {
	message := p.Problem
	if p.mayHold() {
		message += "; the pool keeps what it holds until the object is corrected"
	}
	return errorStatus(p, now, v1alpha1.PoolReasonInvalid, v1alpha1.PoolReasonInvalid, message)
}

// releasingStatus returns the status of a pool that is being deleted and cannot release what it holds.
func releasingStatus(p *Pool, now time.Time, err error) *v1alpha1.WarmPoolStatus {
	reason := v1alpha1.PoolReasonReleasing
	if problem := AsProblem(err); problem != nil {
		reason = problem.Reason
	}
	return errorStatus(p, now, v1alpha1.PoolReasonReleasing, reason, err.Error())
}

// errorStatus returns the previous status with a new state and message, and with a single condition.
func errorStatus(p *Pool, now time.Time, state, reason, message string) *v1alpha1.WarmPoolStatus {
	status := p.Status.DeepCopy()
	status.ObservedGeneration, status.State = p.Generation, state
	status.Message, status.Next, status.Covered = "", "", nil
	status.Conditions = p.withTransitionTimes(now, newCondition(v1alpha1.PoolConditionReady, false, reason, message))
	return status
}

// memoryOf returns a memory for a status.
func memoryOf(m warmpool.Memory) *v1alpha1.PoolMemory {
	p := m.Past()
	out := &v1alpha1.PoolMemory{
		PlannedAt:             timeOf(p.At),
		Ready:                 p.Ready,
		PlacedMilliChunks:     p.Placed,
		Claimed:               p.Claimed,
		IdleChunkMilliseconds: p.Idle,
		UnseenMilliseconds:    p.Unseen,
		LostMilliChunks:       p.Lost,
		GainedMilliChunks:     p.Gained,
		MatchedSince:          timeOf(p.Matching),
		BorrowedMilliChunks:   p.Borrowed,
		Covers:                p.Covers,
		TurningSince:          timeOf(p.TurningSince),
		Unreliable:            p.Unreliable,
	}
	for _, w := range m.Wants() {
		out.Wants = append(out.Wants, v1alpha1.WantedChunks{At: timeOf(w.At), Total: w.Total, Base: w.Base})
	}
	return out
}

// memoryIn returns the memory in a status, or an error if the memory is invalid.
func memoryIn(held *v1alpha1.PoolMemory) (warmpool.Memory, error) {
	var wants []warmpool.Want
	for _, w := range held.Wants {
		wants = append(wants, warmpool.Want{At: millisecondsOf(w.At), Total: w.Total, Base: w.Base})
	}
	return warmpool.RestoreMemory(warmpool.Past{
		At:           millisecondsOf(held.PlannedAt),
		Ready:        held.Ready,
		Placed:       held.PlacedMilliChunks,
		Claimed:      held.Claimed,
		Idle:         held.IdleChunkMilliseconds,
		Unseen:       held.UnseenMilliseconds,
		Lost:         held.LostMilliChunks,
		Gained:       held.GainedMilliChunks,
		Matching:     millisecondsOf(held.MatchedSince),
		Borrowed:     held.BorrowedMilliChunks,
		Covers:       held.Covers,
		TurningSince: millisecondsOf(held.TurningSince),
		Unreliable:   held.Unreliable,
	}, wants)
}

// timeOf converts Unix milliseconds; 0 is the zero time.
func timeOf(milliseconds int64) metav1.MicroTime {
	if milliseconds == 0 {
		return metav1.MicroTime{}
	}
	return metav1.NewMicroTime(time.UnixMilli(milliseconds))
}

func millisecondsOf(t metav1.MicroTime) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

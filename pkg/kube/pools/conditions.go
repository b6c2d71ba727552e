package pools

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

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

// withTransitionTimes returns conditions of a pool, and the one of its spec, with the times of their last transitions.
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
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func (s *poolReport) readyCondition(actuated metav1.Condition) metav1.Condition {
	state := s.state()
	switch {
	case s.enforced() && actuated.Status == metav1.ConditionFalse:
		return newCondition(v1alpha1.PoolConditionReady, false, actuated.Reason, actuated.Message)
	case state == v1alpha1.PoolReasonRecommending:
		return newCondition(v1alpha1.PoolConditionReady, false, state, fmt.Sprintf(
			"mode Recommend holds nothing; Enforce would hold %d chunks: %s", s.plan.Want, s.plan.Message))
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
			"%s; until this changes, at least the fallback of %d is held and nothing is released",
			joinFirst(s.members.unreliable), s.Resolved.Pool.Fallback))
	}
	return newCondition(v1alpha1.PoolConditionForecastsReliable, true, v1alpha1.PoolReasonReliable,
		"the forecasts of all members are reliable")
}

func (s *poolReport) budgetCondition() metav1.Condition {
	spent := fmt.Sprintf("%s of %s stood idle today (UTC)", formatGPUHours(s.plan.Idle),
		formatGPUHours(s.Resolved.Pool.Budget))
	if s.plan.State == warmpool.OverBudget {
		return newCondition(v1alpha1.PoolConditionWithinBudget, false, v1alpha1.PoolReasonBudgetSpent, fmt.Sprintf(
			"%s: at most the fallback of %d is held until tomorrow; raise spec.budget, or lower spec.quantile",
			spent, s.Resolved.Pool.Fallback))
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
	return newCondition(
		v1alpha1.PoolConditionActuated,
		true,
		v1alpha1.PoolReasonHeld,
		fmt.Sprintf("%d chunks are requested by the actuator %s",
			s.capacity().Held, cmp.Or(string(s.Resolved.Actuator), "the actuator")),
	)
}

// invalidStatus returns the status of an invalid pool. What it holds stays.
func invalidStatus(p *Pool, now time.Time) *v1alpha1.WarmPoolStatus {
	message := p.Problem
	if p.mayHold() {
		message += "; what the pool holds stays until the object is corrected"
	}
	return errorStatus(p, now, v1alpha1.PoolReasonInvalid, message)
}

// releasingStatus returns the status of a pool that is being deleted and cannot release what it holds.
func releasingStatus(p *Pool, now time.Time, err error) *v1alpha1.WarmPoolStatus {
	reason := v1alpha1.PoolReasonReleasing
	if problem := AsProblem(err); problem != nil {
		reason = problem.Reason
	}
	status := errorStatus(p, now, v1alpha1.PoolReasonReleasing, err.Error())
	status.Conditions[0].Reason = reason
	return status
}

// errorStatus returns the previous status with another state, message, and a single condition.
func errorStatus(p *Pool, now time.Time, state, message string) *v1alpha1.WarmPoolStatus {
	status := p.Status.DeepCopy()
	status.ObservedGeneration, status.State = p.Generation, state
	status.Message, status.Next, status.Covered = "", "", nil
	status.Conditions = p.withTransitionTimes(now, newCondition(v1alpha1.PoolConditionReady, false, state, message))
	return status
}

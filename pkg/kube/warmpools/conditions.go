package warmpools

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/actuator"
)

// The types of conditions.
const (
	ConditionReady    = "Ready"
	ConditionMembers  = "MembersResolved"
	ConditionSound    = "ForecastsSound"
	ConditionBudget   = "WithinBudget"
	ConditionActuated = "Actuated"
)

// conditions are what a pool's user should know.
func (s *said) conditions(now time.Time) []metav1.Condition {
	actuated := s.actuated()
	out := []metav1.Condition{s.ready(actuated), s.members(), s.sound()}
	if s.Resolved.Pool.Budget > 0 {
		out = append(out, s.budget())
	}
	if s.enforced() || actuated.Status != metav1.ConditionTrue {
		out = append(out, actuated)
	}
	return s.dated(now, out...)
}

// dated are conditions of a pool with the times of their last transitions.
func (p *Pool) dated(now time.Time, all ...metav1.Condition) []metav1.Condition {
	var out []metav1.Condition
	for _, one := range all {
		one.ObservedGeneration = p.Generation
		v1alpha1.AddCondition(&out, one, p.Status.Conditions, now)
	}
	return out
}

// fact is a condition that holds, or does not.
func fact(kind string, holds bool, reason, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func (s *said) ready(actuated metav1.Condition) metav1.Condition {
	state := s.state()
	switch {
	case s.enforced() && actuated.Status == metav1.ConditionFalse:
		return fact(ConditionReady, false, actuated.Reason, actuated.Message)
	case state == stateRecommending:
		return fact(ConditionReady, false, state, fmt.Sprintf(
			"nothing is held: mode is Recommend; with Enforce it would be %d chunks: %s", s.plan.Want, s.plan.Why))
	}
	return fact(ConditionReady, s.plan.State == warmpool.Ready, state, s.plan.Why)
}

func (s *said) members() metav1.Condition {
	if s.roll.reason != "" {
		return fact(ConditionMembers, false, s.roll.reason, brief(append(s.roll.faults, s.roll.remarks...)))
	}
	message := fmt.Sprintf("%d members", len(s.roll.members))
	if len(s.roll.members) == 1 {
		message = "1 member"
	}
	if len(s.roll.remarks) > 0 {
		message += "; " + brief(s.roll.remarks)
	}
	return fact(ConditionMembers, true, "Resolved", message)
}

func (s *said) sound() metav1.Condition {
	if len(s.roll.doubts) > 0 {
		return fact(ConditionSound, false, "InDoubt", fmt.Sprintf(
			"%s; until then no less than the fallback of %d is held, and nothing given back", brief(s.roll.doubts),
			s.Resolved.Pool.Fallback))
	}
	return fact(ConditionSound, true, "Sound", "all members' forecasts are fit to plan by")
}

func (s *said) budget() metav1.Condition {
	spent := fmt.Sprintf("%s of %s stood idle today (UTC)", hours(s.plan.Idle), hours(s.Resolved.Pool.Budget))
	if s.plan.State == warmpool.OverBudget {
		return fact(ConditionBudget, false, "Spent", fmt.Sprintf(
			"%s: no more than the fallback of %d is held until tomorrow; raise spec.budget, or lower spec.quantile",
			spent, s.Resolved.Pool.Fallback))
	}
	return fact(ConditionBudget, true, "Within", spent)
}

func (s *said) actuated() metav1.Condition {
	if p := actuator.AsProblem(s.fault); p != nil {
		return fact(ConditionActuated, false, p.Reason, p.Message)
	}
	switch {
	case s.fault != nil:
		return fact(ConditionActuated, false, "Retrying", s.fault.Error())
	case s.held.Remark != "":
		return fact(ConditionActuated, false, "Hindered", s.held.Remark)
	}
	return fact(ConditionActuated, true, "Held", fmt.Sprintf("%d chunks are asked for by %s",
		s.capacity().Held, cmp.Or(string(s.Resolved.Actuator), "the actuator")))
}

// invalid is the status of a pool with problems of its own. What it holds stays as it is.
func invalid(p *Pool, now time.Time) *v1alpha1.WarmPoolStatus {
	message := p.Problem
	if p.holds() {
		message += "; what the pool holds stays until it is mended"
	}
	return broken(p, now, stateInvalid, message)
}

// stuck is the status of a pool that is to be deleted, and cannot give back what it holds.
func stuck(p *Pool, now time.Time, err error) *v1alpha1.WarmPoolStatus {
	reason := stateReleasing
	if problem := actuator.AsProblem(err); problem != nil {
		reason = problem.Reason
	}
	status := broken(p, now, stateReleasing, err.Error())
	status.Conditions[0].Reason = reason
	return status
}

// broken is the status before but for the state, why, and the one condition that says it.
func broken(p *Pool, now time.Time, state, message string) *v1alpha1.WarmPoolStatus {
	status := p.Status.DeepCopy()
	status.ObservedGeneration, status.State = p.Generation, state
	status.Why, status.Next, status.Covered = "", "", nil
	status.Conditions = p.dated(now, fact(ConditionReady, false, state, message))
	return status
}

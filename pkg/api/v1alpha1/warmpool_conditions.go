package v1alpha1

// The conditions of a WarmPool and their reasons. docs/reference/conditions.md is generated from these comments. (The
// conditions of a Forecast are in package snapshot, because the core does not import this package.)

// Conditions of a WarmPool.
const (
	// PoolConditionReady is True while the pool holds as many chunks as it needs. Otherwise, its reason is the state of the pool. In mode
	// Enforce, its reason can also be the reason of the condition Actuated.
	PoolConditionReady = "Ready"
	// PoolConditionMembersResolved is True while every member is a Forecast that Forewarm can plan for, and none of them is also a member
	// of an older pool.
	PoolConditionMembersResolved = "MembersResolved"
	// PoolConditionForecastsReliable is True while the forecasts of all members are reliable enough to plan with.
	PoolConditionForecastsReliable = "ForecastsReliable"
	// PoolConditionWithinBudget is True while the budget allows chunks to be idle today (UTC). It is present only if
	// the pool has a budget.
	PoolConditionWithinBudget = "WithinBudget"
	// PoolConditionActuated is True while the chunks are requested and nothing blocks the request. In mode Recommend, it is present only
	// while it is False.
	PoolConditionActuated = "Actuated"
)

// Reasons of the condition Ready. These are the states of a pool.
const (
	// PoolReasonReady (True): the pool holds as many chunks as it needs.
	PoolReasonReady = "Ready"
	// PoolReasonFilling (False): some of the requested chunks are not ready yet.
	//
	// Fix: wait. If this lasts, see the condition Actuated.
	PoolReasonFilling = "Filling"
	// PoolReasonFallingBack (False): the forecasts are unreliable, so the pool holds its fallback.
	//
	// Fix: see the condition ForecastsReliable.
	PoolReasonFallingBack = "FallingBack"
	// PoolReasonOverBudget (False): today's budget is spent, so the pool holds at most its fallback.
	//
	// Fix: see the condition WithinBudget.
	PoolReasonOverBudget = "OverBudget"
	// PoolReasonRecommending (False): the mode is Recommend, so the pool holds nothing.
	//
	// Fix: if you agree with the recommendation, set mode: Enforce.
	PoolReasonRecommending = "Recommending"
	// PoolReasonInvalid (False): the object has errors, and the message lists all of them. The pool keeps the chunks that it holds.
	//
	// Fix: correct the object.
	PoolReasonInvalid = "Invalid"
	// PoolReasonReleasing (False): the pool is being deleted, but Forewarm cannot release its chunks yet.
	//
	// Fix: correct the error in the message.
	PoolReasonReleasing = "Releasing"
)

// Reasons of the condition MembersResolved.
const (
	// PoolReasonResolved (True): all members are resolved.
	PoolReasonResolved = "Resolved"
	// PoolReasonForecastNotFound (False): the namespace has no Forecast with the name of a member.
	//
	// Fix: correct the name, or create the Forecast.
	PoolReasonForecastNotFound = "ForecastNotFound"
	// PoolReasonNoScalingTarget (False): no autoscaler reads the Forecast, so Forewarm does not know how much demand
	// a replica sustains.
	//
	// Fix: let an HPA or a ScaledObject read the Forecast, or set spec.scaling.target of the Forecast.
	PoolReasonNoScalingTarget = "NoScalingTarget"
	// PoolReasonReplicasUnknown (False): Forewarm cannot count the replicas of the member.
	//
	// Fix: the field leadTimeSource in the status of the Forecast says why. Remove that cause.
	PoolReasonReplicasUnknown = "ReplicasUnknown"
	// PoolReasonMemberOfOlderPool (False): an older pool has the same member. Only the older pool plans for this member.
	//
	// Fix: remove the member from one of the two pools.
	PoolReasonMemberOfOlderPool = "MemberOfOlderPool"
)

// Reasons of the condition ForecastsReliable.
const (
	// PoolReasonReliable (True): all forecasts are reliable.
	PoolReasonReliable = "Reliable"
	// PoolReasonUnreliable (False): the forecast of a member is stale, warming or poor. The pool holds at least its
	// fallback and releases nothing.
	//
	// Fix: check the Forecast that the message mentions.
	PoolReasonUnreliable = "Unreliable"
)

// Reasons of the condition WithinBudget.
const (
	// PoolReasonWithinBudget (True): some of today's budget is left.
	PoolReasonWithinBudget = "WithinBudget"
	// PoolReasonBudgetSpent (False): today's budget is spent. The pool holds at most its fallback until tomorrow
	// (UTC).
	//
	// Fix: raise spec.budget, or lower spec.quantile.
	PoolReasonBudgetSpent = "BudgetSpent"
)

// Reasons of the condition Actuated.
const (
	// PoolReasonHeld (True): the chunks are requested.
	PoolReasonHeld = "Held"
	// PoolReasonBlocked (False): some of the requested chunks cannot become ready, for example because of a quota or because no new node arrives.
	//
	// Fix: remove the cause that the message mentions.
	PoolReasonBlocked = "Blocked"
	// PoolReasonRetrying (False): the last attempt to request the chunks failed. Forewarm tries again.
	//
	// Fix: if this lasts, correct the error in the message.
	PoolReasonRetrying = "Retrying"
	// PoolReasonForbidden (False): Forewarm lacks permissions that the actuator needs.
	//
	// Fix: apply deploy/warm-pools, or set warmPools.enforce in the chart. For the scale actuator, also grant the verb patch on the scale
	// subresource of its target. If the target is cluster-scoped, also grant get on the target itself.
	PoolReasonForbidden = "Forbidden"
	// PoolReasonQuotaExceeded (False): a ResourceQuota rejects the chunks.
	//
	// Fix: exclude placeholder pods from the quota, raise the quota, or lower spec.max. See docs/warm-pools.md.
	PoolReasonQuotaExceeded = "QuotaExceeded"
	// PoolReasonRejected (False): the API server rejects an object of the pool.
	//
	// Fix: correct spec.chunk.podTemplate.
	PoolReasonRejected = "Rejected"
	// PoolReasonNameConflict (False): the pool must create an object, but an object of that name exists and does not belong to the pool.
	//
	// Fix: delete or rename that object, or rename the pool.
	PoolReasonNameConflict = "NameConflict"
	// PoolReasonPriorityClassNotFound (False): the PriorityClass of the placeholder pods does not exist.
	//
	// Fix: apply deploy/warm-pools, set warmPools.enforce in the chart, or use another PriorityClass.
	PoolReasonPriorityClassNotFound = "PriorityClassNotFound"
	// PoolReasonPriorityTooHigh (False): the value of the PriorityClass is not below 0, so real pods would not
	// preempt the placeholder pods.
	//
	// Fix: use a PriorityClass with a negative value.
	PoolReasonPriorityTooHigh = "PriorityTooHigh"
	// PoolReasonCapacityBufferNotInstalled (False): the cluster does not have the resource CapacityBuffer.
	//
	// Fix: install it, or use another actuator.
	PoolReasonCapacityBufferNotInstalled = "CapacityBufferNotInstalled"
	// PoolReasonTargetNotFound (False): the target of the scale actuator does not exist, or has no scale subresource.
	//
	// Fix: correct spec.actuator.scale.targetRef.
	PoolReasonTargetNotFound = "TargetNotFound"
	// PoolReasonTargetServes (False): a Forecast, an HPA or a ScaledObject refers to the target, so the target serves
	// demand. A pool never scales a workload that serves demand.
	//
	// Fix: use a target that only the pool scales.
	PoolReasonTargetServes = "TargetServes"
	// PoolReasonTargetOfOlderPool (False): an older pool scales the target, or a pool in another namespace scaled it and has not restored
	// its number of replicas yet.
	//
	// Fix: use another target, or delete the other pool.
	PoolReasonTargetOfOlderPool = "TargetOfOlderPool"
	// PoolReasonTargetNotGranted (False): the target is cluster-scoped, and its annotation forewarm.dev/scaled-by-namespace does not
	// contain the namespace of the pool. Forewarm does not scale it.
	//
	// Fix: ask the operator who manages the target to set the annotation. See docs/warm-pools.md.
	PoolReasonTargetNotGranted = "TargetNotGranted"
	// PoolReasonScaleBeforeUnknown (False): the pool was restored (for example from a backup) without its status, so Forewarm does not know
	// how many replicas the target had before the pool scaled it. Forewarm does not scale it.
	//
	// Fix: set the replicas of the target to the number that it had before the pool scaled it, then remove the annotation
	// forewarm.dev/holds-capacity from the pool.
	PoolReasonScaleBeforeUnknown = "ScaleBeforeUnknown"
	// PoolReasonCapacityTypesNotSupported (False): the pool has several capacity types, but the scale actuator can set only a single number
	// of replicas.
	//
	// Fix: remove spec.capacityTypes, or use another actuator.
	PoolReasonCapacityTypesNotSupported = "CapacityTypesNotSupported"
)

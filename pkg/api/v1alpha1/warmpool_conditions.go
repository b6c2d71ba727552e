package v1alpha1

// The conditions of a WarmPool and their reasons. docs/reference/conditions.md is generated from these comments. (Those of a
// Forecast are in package snapshot, because the core does not import this package.)

// Conditions of a WarmPool.
const (
	// PoolConditionReady is True while the pool holds what it wants. Else the reason is the state of the pool or, in mode
	// Enforce, the reason of Actuated.
	PoolConditionReady = "Ready"
	// PoolConditionMembersResolved is True while each member is a Forecast that can be planned for, and no older pool has it.
	PoolConditionMembersResolved = "MembersResolved"
	// PoolConditionForecastsReliable is True while the forecasts of all members are reliable enough to plan by.
	PoolConditionForecastsReliable = "ForecastsReliable"
	// PoolConditionWithinBudget is True while chunks may still stand idle today (UTC). It is present only with a budget.
	PoolConditionWithinBudget = "WithinBudget"
	// PoolConditionActuated is True while the chunks are requested and nothing prevents them. In mode Recommend it is present
	// only while it is False.
	PoolConditionActuated = "Actuated"
)

// Reasons of the condition Ready. These are the states of a pool.
const (
	// PoolReasonReady (True): the pool holds what it wants.
	PoolReasonReady = "Ready"
	// PoolReasonFilling (False): the pool requested more than is ready.
	//
	// Fix: wait. If it lasts, see the condition Actuated.
	PoolReasonFilling = "Filling"
	// PoolReasonFallingBack (False): the forecasts are unreliable, so the fallback is held.
	//
	// Fix: see the condition ForecastsReliable.
	PoolReasonFallingBack = "FallingBack"
	// PoolReasonOverBudget (False): the budget is spent, so the fallback is held.
	//
	// Fix: see the condition WithinBudget.
	PoolReasonOverBudget = "OverBudget"
	// PoolReasonRecommending (False): the mode is Recommend, so the pool holds nothing.
	//
	// Fix: set mode: Enforce when the recommendation is what you want.
	PoolReasonRecommending = "Recommending"
	// PoolReasonInvalid (False): the object has errors. The message lists all of them. What the pool holds stays.
	//
	// Fix: correct the object.
	PoolReasonInvalid = "Invalid"
	// PoolReasonReleasing (False): the pool is being deleted and cannot release what it holds yet.
	//
	// Fix: the message has the error.
	PoolReasonReleasing = "Releasing"
)

// Reasons of the condition MembersResolved.
const (
	// PoolReasonResolved (True): all members are resolved.
	PoolReasonResolved = "Resolved"
	// PoolReasonForecastNotFound (False): the namespace has no Forecast of that name.
	//
	// Fix: correct the name, or create the Forecast.
	PoolReasonForecastNotFound = "ForecastNotFound"
	// PoolReasonNoScalingTarget (False): the Forecast has no autoscaler, so it is unknown what a replica sustains.
	//
	// Fix: let an HPA or a ScaledObject refer to the Forecast, or set its spec.scaling.target.
	PoolReasonNoScalingTarget = "NoScalingTarget"
	// PoolReasonReplicasUnknown (False): the replicas of the member cannot be counted.
	//
	// Fix: the leadTimeSource of the Forecast has the reason.
	PoolReasonReplicasUnknown = "ReplicasUnknown"
	// PoolReasonMemberOfOlderPool (False): an older pool has the member. It counts there.
	//
	// Fix: remove it from one of the two pools.
	PoolReasonMemberOfOlderPool = "MemberOfOlderPool"
)

// Reasons of the condition ForecastsReliable.
const (
	// PoolReasonReliable (True): all forecasts are reliable.
	PoolReasonReliable = "Reliable"
	// PoolReasonUnreliable (False): a member's forecast is stale, warming or poor. At least the fallback is held, and nothing
	// is released.
	//
	// Fix: check the Forecast that the message names.
	PoolReasonUnreliable = "Unreliable"
)

// Reasons of the condition WithinBudget.
const (
	// PoolReasonWithinBudget (True): some of today's budget is left.
	PoolReasonWithinBudget = "WithinBudget"
	// PoolReasonBudgetSpent (False): today's budget is spent. At most the fallback is held until tomorrow (UTC).
	//
	// Fix: raise spec.budget, or lower spec.quantile.
	PoolReasonBudgetSpent = "BudgetSpent"
)

// Reasons of the condition Actuated.
const (
	// PoolReasonHeld (True): the chunks are requested.
	PoolReasonHeld = "Held"
	// PoolReasonBlocked (False): something prevents some of the chunks, for example a quota, or that no node comes.
	//
	// Fix: the message names it.
	PoolReasonBlocked = "Blocked"
	// PoolReasonRetrying (False): the last attempt failed, and is repeated.
	//
	// Fix: the message has the error.
	PoolReasonRetrying = "Retrying"
	// PoolReasonForbidden (False): Forewarm lacks rights.
	//
	// Fix: apply deploy/warm-pools, or set warmPools.enforce in the chart. For the scale actuator, grant patch on the scale of
	// its target, and get on a cluster-scoped target itself.
	PoolReasonForbidden = "Forbidden"
	// PoolReasonQuotaExceeded (False): a ResourceQuota rejects the chunks.
	//
	// Fix: exclude placeholder pods from the quota, raise it, or lower spec.max. See docs/warm-pools.md.
	PoolReasonQuotaExceeded = "QuotaExceeded"
	// PoolReasonRejected (False): the API server rejects an object of the pool.
	//
	// Fix: correct spec.chunk.podTemplate.
	PoolReasonRejected = "Rejected"
	// PoolReasonNameConflict (False): an object of that name exists and is not the pool's.
	//
	// Fix: delete or rename it, or rename the pool.
	PoolReasonNameConflict = "NameConflict"
	// PoolReasonPriorityClassNotFound (False): the PriorityClass of the placeholder pods does not exist.
	//
	// Fix: apply deploy/warm-pools, set warmPools.enforce in the chart, or name another PriorityClass.
	PoolReasonPriorityClassNotFound = "PriorityClassNotFound"
	// PoolReasonPriorityTooHigh (False): the value of the PriorityClass is not below 0, so real pods would not preempt the
	// placeholder pods.
	//
	// Fix: name a PriorityClass of negative value.
	PoolReasonPriorityTooHigh = "PriorityTooHigh"
	// PoolReasonCapacityBufferNotInstalled (False): the cluster does not have the resource CapacityBuffer.
	//
	// Fix: install it, or use another actuator.
	PoolReasonCapacityBufferNotInstalled = "CapacityBufferNotInstalled"
	// PoolReasonTargetNotFound (False): the target of the scale does not exist, or has no scale subresource.
	//
	// Fix: correct spec.actuator.scale.targetRef.
	PoolReasonTargetNotFound = "TargetNotFound"
	// PoolReasonTargetServes (False): the target serves: a Forecast, an HPA or a ScaledObject refers to it. A pool never scales
	// what serves.
	//
	// Fix: name a target of the pool's own.
	PoolReasonTargetServes = "TargetServes"
	// PoolReasonTargetOfOlderPool (False): an older pool scales the target, or one of another namespace has set it and not restored
	// it.
	//
	// Fix: name another target, or delete that pool.
	PoolReasonTargetOfOlderPool = "TargetOfOlderPool"
	// PoolReasonTargetNotGranted (False): the target is cluster-scoped, and its annotation forewarm.dev/scaled-by-namespace does
	// not name the pool's namespace. Its replicas stay as they are.
	//
	// Fix: ask the operator of the target to set the annotation. See docs/warm-pools.md.
	PoolReasonTargetNotGranted = "TargetNotGranted"
	// PoolReasonScaleBeforeUnknown (False): the pool was restored without its status, so it is unknown which number of replicas
	// it is to restore. They stay as they are.
	//
	// Fix: set the target's replicas to that number, then remove the pool's annotation forewarm.dev/holds-capacity.
	PoolReasonScaleBeforeUnknown = "ScaleBeforeUnknown"
	// PoolReasonCapacityTypesNotSupported (False): the scale actuator sets one number, and the pool has two capacity types.
	//
	// Fix: remove spec.capacityTypes, or use another actuator.
	PoolReasonCapacityTypesNotSupported = "CapacityTypesNotSupported"
)

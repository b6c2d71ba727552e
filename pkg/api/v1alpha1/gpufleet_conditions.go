package v1alpha1

// The conditions of a GPUFleet and their reasons. docs/reference/conditions.md is generated from these comments.

// Conditions of a GPUFleet.
const (
	// FleetConditionReady is True while Forewarm serves what batch work may use.
	FleetConditionReady = "Ready"
	// FleetConditionMembersResolved is True while every member is a Forecast that Forewarm can plan for, and none of them is also a member
	// of an older fleet.
	FleetConditionMembersResolved = "MembersResolved"
	// FleetConditionCapacityKnown is True while Forewarm knows how many GPUs there are, and they are enough for the members' minimums.
	FleetConditionCapacityKnown = "CapacityKnown"
	// FleetConditionBatchSafe is True while the batch pods end by themselves and have a lower priority than the members. It is Unknown while
	// there are no batch pods.
	FleetConditionBatchSafe = "BatchSafe"
	// FleetConditionShortage is True if the members will need more GPUs than there are, in the next day. Absent while there is no plan.
	FleetConditionShortage = "Shortage"
)

// Reasons of the condition Ready.
const (
	// FleetReasonPlanned (True): all members are forecast, and the numbers are served.
	FleetReasonPlanned = "Planned"
	// FleetReasonMembersUnknown (False): Forewarm does not know the need of some members, so all replicas that they may have are kept.
	// Numbers are served, but little or nothing is left for batch work.
	//
	// Fix: see the message, and the Forecasts that it mentions. A new Forecast needs two days of history.
	FleetReasonMembersUnknown = "MembersUnknown"
	// FleetReasonNoPlan (False): there is no plan, so nothing is served.
	//
	// Fix: see the condition CapacityKnown.
	FleetReasonNoPlan = "NoPlan"
	// FleetReasonInvalid (False): the object has errors, and the message lists all of them. Nothing is served.
	//
	// Fix: correct the object.
	FleetReasonInvalid = "Invalid"
)

// Reasons of the condition MembersResolved.
const (
	// FleetReasonResolved (True): all members are resolved.
	FleetReasonResolved = "Resolved"
	// FleetReasonForecastNotFound (False): the namespace has no Forecast with the name of a member. No GPU is spare until this is fixed.
	//
	// Fix: correct the name, or create the Forecast.
	FleetReasonForecastNotFound = "ForecastNotFound"
	// FleetReasonNoScalingTarget (False): no autoscaler reads the Forecast, so Forewarm does not know how much demand a replica sustains. No
	// GPU is spare until this is fixed.
	//
	// Fix: let an HPA or a ScaledObject read the Forecast, or set spec.scaling.target of the Forecast.
	FleetReasonNoScalingTarget = "NoScalingTarget"
	// FleetReasonReplicasUnknown (False): Forewarm cannot count the replicas of the member. All replicas that it may have are kept.
	//
	// Fix: the field leadTimeSource in the status of the Forecast says why. Remove that cause.
	FleetReasonReplicasUnknown = "ReplicasUnknown"
	// FleetReasonMemberOfOlderFleet (False): an older fleet has the same member. Both fleets keep GPUs for it.
	//
	// Fix: remove the member from one of the two fleets.
	FleetReasonMemberOfOlderFleet = "MemberOfOlderFleet"
	// FleetReasonMemberRequestsMore (False): a pod of a member requests more GPUs than spec.members says. Forewarm counts the member with what
	// the pod requests.
	//
	// Fix: set the field gpus of the member to what a replica requests.
	FleetReasonMemberRequestsMore = "MemberRequestsMore"
)

// Reasons of the condition CapacityKnown.
const (
	// FleetReasonCounted (True): the message says how many GPUs there are, and where the number comes from.
	FleetReasonCounted = "Counted"
	// FleetReasonUnreadable (False): Forewarm cannot read the nodes, the ClusterQueue or the pods. Nothing is served.
	//
	// Fix: set fleets.nodes or fleets.clusterQueues in the chart, or remove the cause in the message.
	FleetReasonUnreadable = "Unreadable"
	// FleetReasonQueueNotFound (False): the ClusterQueue does not exist. Nothing is served.
	//
	// Fix: correct spec.gpus.clusterQueue.name, or create the ClusterQueue.
	FleetReasonQueueNotFound = "QueueNotFound"
	// FleetReasonNoGPUs (False): no usable node matches, the nodes do not have the resource, or the quota has none of it. No GPU is spare.
	//
	// Fix: correct spec.gpus or spec.resource. Nodes count if they are ready and not cordoned.
	FleetReasonNoGPUs = "NoGPUs"
	// FleetReasonBelowMinimums (False): the minimums of the members need more GPUs than there are. No GPU is spare.
	//
	// Fix: lower the members' minReplicas, or add GPUs.
	FleetReasonBelowMinimums = "BelowMinimums"
)

// Reasons of the condition BatchSafe.
const (
	// FleetReasonSafe (True): nothing is wrong with the batch pods.
	FleetReasonSafe = "Safe"
	// FleetReasonNoBatchPods (Unknown): there are no batch pods yet.
	FleetReasonNoBatchPods = "NoBatchPods"
	// FleetReasonRunsCutShort (False): a Deployment, ReplicaSet or StatefulSet runs the batch pods, and their grace period is shorter than a
	// run: a smaller number of replicas would kill runs. Nothing is served to this consumer, and its pods count as other pods.
	//
	// Fix: use Jobs or a ScaledJob, whose running jobs end by themselves, or raise terminationGracePeriodSeconds to the length of a run.
	FleetReasonRunsCutShort = "RunsCutShort"
	// FleetReasonPriorityNotLower (False): the priority of batch pods is not below the priority of every member's pods, so the scheduler
	// cannot make room for a member if a plan was wrong.
	//
	// Fix: give the batch pods a PriorityClass with a lower value.
	FleetReasonPriorityNotLower = "PriorityNotLower"
	// FleetReasonRequestsMore (False): a batch pod requests more GPUs than spec.batch says, so batch work uses more GPUs than are spare.
	//
	// Fix: correct the field gpus of the consumer.
	FleetReasonRequestsMore = "RequestsMore"
)

// Reasons of the condition Shortage.
const (
	// FleetReasonShortageAhead (True): the message says when, how many GPUs are missing, and which members need them.
	//
	// Fix: add GPUs, move a member elsewhere, or lower the maximum of a member that can wait.
	FleetReasonShortageAhead = "ShortageAhead"
	// FleetReasonEnough (False): the GPUs are enough for the members in the next day.
	FleetReasonEnough = "Enough"
)

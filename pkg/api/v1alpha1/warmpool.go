package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WarmPool holds GPU capacity ahead of the Forecasts that are its members, so that their new replicas find a node. How much
// follows from the members' forecasts: what they may need together within the time that a node takes, less what they have.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=wp,categories=forewarm
// +kubebuilder:metadata:labels=app.kubernetes.io/part-of=forewarm
// +kubebuilder:metadata:annotations=helm.sh/resource-policy=keep
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Wanted",type=integer,JSONPath=`.status.wanted`
// +kubebuilder:printcolumn:name="Held",type=integer,JSONPath=`.status.held`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Borrowed",type=integer,JSONPath=`.status.borrowed`
// +kubebuilder:printcolumn:name="Idle today",type=string,JSONPath=`.status.idleToday`
// +kubebuilder:printcolumn:name="Budget left",type=string,JSONPath=`.status.budgetLeft`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.next`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type WarmPool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WarmPoolSpec `json:"spec"`
	// +optional
	Status WarmPoolStatus `json:"status,omitzero"`
}

// WarmPoolList is a list of WarmPools.
//
// +kubebuilder:object:root=true
type WarmPoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []WarmPool `json:"items"`
}

// WarmPoolSpec is what the user asks for. Everything but members, chunk and max has a default.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="min must not exceed max"
// +kubebuilder:validation:XValidation:rule="!has(self.fallback) || self.fallback <= self.max",message="fallback must not exceed max"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.fallback) || self.min <= self.fallback",message="fallback must not be below min"
// +kubebuilder:validation:XValidation:rule="!has(self.actuator) || !has(self.actuator.scale) || !has(self.capacityTypes) || self.capacityTypes.size() == 0",message="what a scale sets has replicas of one kind: remove capacityTypes"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityTypes) || self.capacityTypes.size() < 2 || self.capacityTypes.all(type, has(type.nodeSelector) && type.nodeSelector.size() > 0)",message="of two capacityTypes each needs a nodeSelector"
type WarmPoolSpec struct {
	// Members are the Forecasts whose workloads take what the pool holds.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=forecast
	Members []Member `json:"members"`

	// Chunk is the piece of capacity that the pool holds a number of.
	Chunk Chunk `json:"chunk"`

	// Quantile of the members' joint need, at its highest within the window, that the pool covers; from 0.5 to 0.995, in
	// quotes. Default "0.975".
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^0?\.[0-9]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^0?[.][0-9]+$') || (double(self) >= 0.5 && double(self) <= 0.995)",message="write a number from 0.5 to 0.995"
	// +optional
	Quantile string `json:"quantile,omitempty"`

	// LeadTime is how long a new node of this shape takes, from being wanted until pods start on it. Default: measured on
	// the members' pods that waited for a node, 5m until then.
	// +optional
	LeadTime *LeadTime `json:"leadTime,omitempty"`

	// Min is the least number of chunks held. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Min *int32 `json:"min,omitempty"`
	// Max is the most chunks held.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Max int32 `json:"max"`
	// Fallback is how many chunks are held while the forecasts are stale or poor, or the budget is spent. Default: min.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Fallback *int32 `json:"fallback,omitempty"`

	// Budget bounds what idle capacity may cost. Default: none.
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// CapacityTypes split the chunks by how their nodes are bought: the first for what is wanted half of the time, the
	// second for the rest. Default: one, without a node selector of its own.
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	// +optional
	CapacityTypes []CapacityType `json:"capacityTypes,omitempty"`

	// Actuator is how the chunks are held. Default: placeholderPods.
	// +optional
	Actuator *Actuator `json:"actuator,omitempty"`

	// Mode is Recommend, which writes nothing but the status, or Enforce. Default Recommend.
	// +kubebuilder:default=Recommend
	// +optional
	Mode PoolMode `json:"mode,omitempty"`
}

// Member is a Forecast whose workload takes what the pool holds.
type Member struct {
	// Forecast is its name, in the pool's namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Forecast string `json:"forecast"`
	// Chunks that one replica takes: a gang of four pods whose chunk is a node takes 4, two replicas that share a chunk 0.5
	// each. From 0.001 to 1000. Default 1.
	// +optional
	Chunks *resource.Quantity `json:"chunks,omitempty"`
	// A rule for it, 64 times over, would cost more than an API server allows: forewarm says what is wrong with it.
}

// Chunk is the piece of capacity that the pool holds a number of: as a rule what one replica of a member takes.
type Chunk struct {
	// PodTemplate is a pod that takes one chunk: its resources, node selector, affinity, tolerations, topology spread and
	// runtime class. Its containers are never run.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodTemplate corev1.PodTemplateSpec `json:"podTemplate"`
	// GPUEquivalent is how many physical GPUs a chunk is: what idle time is counted in. Default: the GPUs that the template
	// asks for; it must be given for shares of one (time-slicing, MPS, HAMi, vCUDA), MIG instances and claims.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	// +optional
	GPUEquivalent *resource.Quantity `json:"gpuEquivalent,omitempty"`
}

// Budget bounds what idle capacity may cost.
type Budget struct {
	// IdleGPUHoursPerDay is how many GPU-hours the pool's chunks may stand idle in a day (UTC). When they are spent the
	// pool holds its fallback until the next day.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	IdleGPUHoursPerDay resource.Quantity `json:"idleGPUHoursPerDay"`
}

// CapacityType is a way in which nodes are bought.
type CapacityType struct {
	// Name of the type, for example on-demand or spot.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// NodeSelector of its nodes, for example karpenter.sh/capacity-type: spot. It is added to the template's.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// PoolMode is whether a pool acts.
//
// +kubebuilder:validation:Enum=Recommend;Enforce
type PoolMode string

const (
	// PoolRecommend reports in the status what the pool would hold, and holds nothing.
	PoolRecommend PoolMode = "Recommend"
	// PoolEnforce holds it.
	PoolEnforce PoolMode = "Enforce"
)

// Actuator is how chunks are held.
//
// +kubebuilder:validation:XValidation:rule="[has(self.placeholderPods), has(self.capacityBuffer), has(self.scale)].filter(given, given).size() == 1",message="set exactly one of placeholderPods, capacityBuffer and scale"
type Actuator struct {
	// PlaceholderPods holds chunks by placeholder pods of negative priority, which real pods preempt.
	// +optional
	PlaceholderPods *PlaceholderPods `json:"placeholderPods,omitempty"`
	// CapacityBuffer asks the cluster's autoscaler for them (autoscaling.x-k8s.io/v1beta1): Cluster Autoscaler 1.35,
	// Karpenter 1.14 (both behind a flag), GKE.
	// +optional
	CapacityBuffer *CapacityBuffer `json:"capacityBuffer,omitempty"`
	// Scale sets the replicas of anything with a scale sub-resource whose replicas are the chunks: a set of sleeping
	// replicas, a static node pool.
	// +optional
	Scale *Scale `json:"scale,omitempty"`
}

// PlaceholderPods holds chunks by placeholder pods.
type PlaceholderPods struct {
	// PriorityClassName of the placeholders: one of negative value, -10 where Cluster Autoscaler is to make nodes for them.
	// Default forewarm-placeholder, which deploy/warm-pools and the chart have.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Image that does nothing. Default registry.k8s.io/pause:3.10.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Image string `json:"image,omitempty"`
	// PrePullImages are images that the nodes should have before a pod needs them. Each is mounted as an image volume, so
	// that it is pulled and not run. Ignored where the cluster does not have image volumes.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=set
	// +optional
	PrePullImages []string `json:"prePullImages,omitempty"`
}

// CapacityBuffer asks the cluster's autoscaler for chunks.
type CapacityBuffer struct {
	// ProvisioningStrategy of the buffer. Default: the cluster's own.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ProvisioningStrategy string `json:"provisioningStrategy,omitempty"`
}

// Scale sets the replicas of something else.
type Scale struct {
	// TargetRef is what is scaled, in the pool's namespace, or cluster-scoped and naming that namespace by the annotation
	// forewarm.dev/scaled-by-namespace.
	TargetRef TargetRef `json:"targetRef"`
}

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WarmPool holds GPU capacity ahead of demand, so that new replicas of several Forecasts find a node immediately.
// Forewarm derives the size of the pool from the forecasts of its members: the capacity that all members together may
// need before a new node could be ready, minus the capacity that they already have.
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

// WarmPoolSpec is the desired behavior of a WarmPool. Only members, chunk and max are required. All other fields have
// defaults.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="min must not exceed max"
// +kubebuilder:validation:XValidation:rule="!has(self.fallback) || self.fallback <= self.max",message="fallback must not exceed max"
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.fallback) || self.min <= self.fallback",message="fallback must not be below min"
// +kubebuilder:validation:XValidation:rule="!has(self.actuator) || !has(self.actuator.scale) || !has(self.capacityTypes) || self.capacityTypes.size() == 0",message="the scale actuator does not support capacityTypes: remove capacityTypes"
// +kubebuilder:validation:XValidation:rule="!has(self.capacityTypes) || self.capacityTypes.size() < 2 || self.capacityTypes.all(type, has(type.nodeSelector) && type.nodeSelector.size() > 0)",message="with two capacityTypes, each needs a nodeSelector"
type WarmPoolSpec struct {
	// Members lists the Forecasts whose workloads use the capacity that the pool holds. List 1 to 64.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=forecast
	Members []Member `json:"members"`

	// Chunk describes one unit of the capacity that the pool holds. It is usually what one replica of a member needs.
	Chunk Chunk `json:"chunk"`

	// Quantile says how likely it must be that the pool is large enough. For example, "0.975" means: with a probability
	// of 97.5 %, the pool covers everything that the members together need until a new node and a pod on it have
	// started. With a higher value, the pool holds more chunks. Write a number from 0.5 to 0.995 in quotes. Default
	// "0.975".
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^0?\.[0-9]+$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^0?[.][0-9]+$') || (double(self) >= 0.5 && double(self) <= 0.995)",message="write a number from 0.5 to 0.995"
	// +optional
	Quantile string `json:"quantile,omitempty"`

	// LeadTime says how Forewarm determines the lead time of a node: the time from the request for a new node until
	// pods start on it. Default: Forewarm measures it on the members' pods that waited for a node, and uses 5m until it
	// has measured enough starts.
	// +optional
	LeadTime *LeadTime `json:"leadTime,omitempty"`

	// Min is the lower limit for the number of chunks that the pool holds. Default 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Min *int32 `json:"min,omitempty"`
	// Max is the upper limit for the number of chunks that the pool holds. At most 10000.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Max int32 `json:"max"`
	// Fallback is how many chunks the pool holds when it cannot follow the forecasts. While the forecast of a member is
	// stale or poor, the pool holds at least this number. After the budget is spent, it holds at most this number. It
	// must be between min and max. Default: min.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Fallback *int32 `json:"fallback,omitempty"`

	// Budget limits how long the chunks of the pool can stay idle. Default: no limit.
	// +optional
	Budget *Budget `json:"budget,omitempty"`

	// CapacityTypes divides the chunks by the way in which you buy their nodes, such as on-demand and spot. The first
	// type gets the chunks that the pool needs at least half of the time, and the second type gets the rest. At most 2.
	// Default: one type, which adds no node selector.
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	// +optional
	CapacityTypes []CapacityType `json:"capacityTypes,omitempty"`

	// Actuator says how Forewarm holds the chunks. Default: placeholderPods.
	// +optional
	Actuator *Actuator `json:"actuator,omitempty"`

	// Mode says whether the pool really holds capacity. In mode Recommend, Forewarm only reports in the status what the
	// pool would hold. In mode Enforce, the pool holds it. Default Recommend.
	// +kubebuilder:default=Recommend
	// +optional
	Mode PoolMode `json:"mode,omitempty"`
}

// Member is a Forecast whose workload uses the capacity that the pool holds.
type Member struct {
	// Forecast is the name of the Forecast, in the namespace of the pool.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Forecast string `json:"forecast"`
	// Chunks is how many chunks one replica of this member occupies. For example, if a chunk is one node and a replica
	// is a group of four pods on four nodes, write 4. If two replicas share a chunk, write 0.5. From 0.001 to 1000.
	// Default 1.
	// +optional
	Chunks *resource.Quantity `json:"chunks,omitempty"`
	// A rule for it, 64 times over, would cost more than an API server allows: forewarm says what is wrong with it.
}

// Chunk is one unit of the capacity that the pool holds. It is usually what one replica of a member needs.
type Chunk struct {
	// PodTemplate describes a pod that fills one chunk. Forewarm uses its resources, node selector, affinity,
	// tolerations, topology spread constraints and runtime class. Its containers never run.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodTemplate corev1.PodTemplateSpec `json:"podTemplate"`
	// GPUEquivalent is how many physical GPUs a chunk contains, from 0.001 to 1000. Forewarm uses this number to count
	// idle GPU-hours. Default: the number of GPUs that the template requests. Required if the template requests shares
	// of a GPU (time-slicing, MPS, HAMi, vCUDA), MIG instances or resource claims.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	// +optional
	GPUEquivalent *resource.Quantity `json:"gpuEquivalent,omitempty"`
}

// Budget limits how long the chunks of the pool can stay idle.
type Budget struct {
	// IdleGPUHoursPerDay is how many GPU-hours the chunks of the pool, taken together, can be idle in one UTC day. When
	// this amount is used up, the pool holds at most its fallback until the next day. Write a quantity above 0.
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : (type(self) == string && size(self) <= 32 && !self.matches('[eE][+-]?[0-9]{3}') && isQuantity(self) && quantity(self).isGreaterThan(quantity('0')))",message="write a quantity above 0"
	IdleGPUHoursPerDay resource.Quantity `json:"idleGPUHoursPerDay"`
}

// CapacityType is a way in which nodes are bought.
type CapacityType struct {
	// Name is the name of the type, for example on-demand or spot.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// NodeSelector selects the nodes of this type, for example karpenter.sh/capacity-type: spot. Forewarm adds it to
	// the node selector of the pod template. Required for each type if there are two.
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// PoolMode says whether a pool holds capacity or only reports.
//
// +kubebuilder:validation:Enum=Recommend;Enforce
type PoolMode string

const (
	// PoolRecommend only reports in the status what the pool would hold.
	PoolRecommend PoolMode = "Recommend"
	// PoolEnforce holds the capacity.
	PoolEnforce PoolMode = "Enforce"
)

// Actuator says how Forewarm holds the chunks. Set exactly one of its fields.
//
// +kubebuilder:validation:XValidation:rule="[has(self.placeholderPods), has(self.capacityBuffer), has(self.scale)].filter(given, given).size() == 1",message="set exactly one of placeholderPods, capacityBuffer and scale"
type Actuator struct {
	// PlaceholderPods holds each chunk with a placeholder pod. Placeholder pods have a negative priority, so real pods
	// preempt them.
	// +optional
	PlaceholderPods *PlaceholderPods `json:"placeholderPods,omitempty"`
	// CapacityBuffer requests the chunks from the cluster's node autoscaler through CapacityBuffer objects
	// (autoscaling.x-k8s.io/v1beta1). Cluster Autoscaler 1.35 and Karpenter 1.14 support them behind a flag, and GKE
	// supports them.
	// +optional
	CapacityBuffer *CapacityBuffer `json:"capacityBuffer,omitempty"`
	// Scale sets the number of replicas of an object that has a scale subresource. Each replica of this object is one
	// chunk. Examples of such objects are a set of sleeping replicas and a static node pool.
	// +optional
	Scale *Scale `json:"scale,omitempty"`
}

// PlaceholderPods configures the placeholder pods that hold the chunks.
type PlaceholderPods struct {
	// PriorityClassName is the PriorityClass of the placeholder pods. The value of this PriorityClass must be negative,
	// so that real pods preempt placeholder pods. It must be at least -10 if Cluster Autoscaler creates nodes for them.
	// Default forewarm-placeholder, which the chart and deploy/warm-pools create.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// Image is the container image of the placeholder pods. The image must do nothing but wait. Default
	// registry.k8s.io/pause:3.10.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Image string `json:"image,omitempty"`
	// PrePullImages lists images that nodes pull before real pods need them. The placeholder pods mount each image as
	// an image volume, so the node pulls the image without running it. Ignored if the cluster does not support image
	// volumes. At most 8. Default: none.
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=set
	// +optional
	PrePullImages []string `json:"prePullImages,omitempty"`
}

// CapacityBuffer configures the CapacityBuffer objects that request the chunks.
type CapacityBuffer struct {
	// ProvisioningStrategy is the value of provisioningStrategy in the CapacityBuffer objects. Default: Forewarm leaves
	// that field empty, and the default of the cluster applies.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ProvisioningStrategy string `json:"provisioningStrategy,omitempty"`
}

// Scale says which object Forewarm scales. Its replicas are the chunks.
type Scale struct {
	// TargetRef is the object whose number of replicas Forewarm sets. It must be in the namespace of the pool, or be
	// cluster-scoped. A cluster-scoped object must have the annotation forewarm.dev/scaled-by-namespace with the name
	// of the pool's namespace.
	TargetRef TargetRef `json:"targetRef"`
}

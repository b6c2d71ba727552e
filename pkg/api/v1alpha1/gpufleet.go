package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GPUFleet is a fixed number of GPUs that interactive workloads and batch work share. Forewarm serves, for each consumer
// of batch work, how many replicas may run now: each of them ends before the interactive workloads need its GPUs. A
// GPUFleet holds and changes nothing itself.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=gpufleets,shortName=gf,categories=forewarm
// +kubebuilder:metadata:labels=app.kubernetes.io/part-of=forewarm
// +kubebuilder:metadata:annotations=helm.sh/resource-policy=keep
// +kubebuilder:printcolumn:name="GPUs",type=string,JSONPath=`.status.gpus`
// +kubebuilder:printcolumn:name="Members",type=string,JSONPath=`.status.members`
// +kubebuilder:printcolumn:name="Other",type=string,JSONPath=`.status.other`,priority=1
// +kubebuilder:printcolumn:name="Spare",type=string,JSONPath=`.status.spare`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Shortage",type=string,JSONPath=`.status.conditions[?(@.type=="Shortage")].status`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GPUFleet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GPUFleetSpec `json:"spec"`
	// +optional
	Status GPUFleetStatus `json:"status,omitzero"`
}

// GPUFleetList is a list of GPUFleets.
//
// +kubebuilder:object:root=true
type GPUFleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []GPUFleet `json:"items"`
}

// GPUFleetSpec says how many GPUs there are, which Forecasts have the first claim on them, and which batch work may use
// the rest.
type GPUFleetSpec struct {
	// GPUs says how many GPUs the fleet has.
	GPUs FleetGPUs `json:"gpus"`
	// Resource is the extended resource that Forewarm counts on nodes, in pods and in the quota. Default nvidia.com/gpu.
	// +kubebuilder:default="nvidia.com/gpu"
	// +kubebuilder:validation:MaxLength=317
	// +optional
	Resource string `json:"resource,omitempty"`
	// Members lists the Forecasts whose workloads run on the fleet. They have the first claim on its GPUs. List 1 to 50.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +listType=map
	// +listMapKey=forecast
	Members []FleetMember `json:"members"`
	// Batch lists the consumers of the GPUs that the members do not need. List 1 to 8. Forewarm serves a number for each
	// of them, and for no one else.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Batch []FleetBatch `json:"batch"`
}

// FleetGPUs says how many GPUs a fleet has. Set exactly one of its fields.
//
// +kubebuilder:validation:XValidation:rule="[has(self.count), has(self.nodeSelector), has(self.clusterQueue)].filter(given, given).size() == 1",message="set exactly one of count, nodeSelector and clusterQueue"
type FleetGPUs struct {
	// Count is the number of GPUs. The fleet must own them: Forewarm does not see other pods that use them.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Count int32 `json:"count,omitempty"`
	// NodeSelector selects the nodes of the fleet by their labels, for example
	// nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3. Forewarm counts their allocatable GPUs, without nodes that are
	// cordoned or not ready, and the GPUs of other pods on these nodes. Needs the chart value fleets.nodes.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// ClusterQueue is a ClusterQueue of Kueue. Its nominal quota of the resource, summed over its flavors, is the number
	// of GPUs. Needs the chart value fleets.clusterQueues.
	// +optional
	ClusterQueue *FleetClusterQueue `json:"clusterQueue,omitempty"`
}

// FleetClusterQueue names a ClusterQueue of Kueue.
type FleetClusterQueue struct {
	// Name is the name of the ClusterQueue.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// FleetMember is a Forecast whose workload runs on the fleet.
type FleetMember struct {
	// Forecast is the name of the Forecast, in the namespace of the fleet.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Forecast string `json:"forecast"`
	// GPUs is how many GPUs one replica of the workload uses, from 0.001 to 1000. Write a fraction in quotes, such
	// as "0.5". Default 1.
	// +optional
	GPUs *resource.Quantity `json:"gpus,omitempty"`
	// A rule for it would cost more than an API server allows: Forewarm says what is wrong with it.
}

// FleetBatch is batch work that uses the GPUs that the members do not need.
type FleetBatch struct {
	// Name is the name of the consumer. A reader of the metric selects it by the label batch.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`
	// Selector selects the pods of the consumer, in the namespace of the fleet. Each pod is a replica. The selector must
	// not be empty.
	Selector metav1.LabelSelector `json:"selector"`
	// GPUs is how many GPUs one replica uses, from 0.001 to 1000. Write a fraction in quotes, such as "0.5". Default 1.
	// +optional
	GPUs *resource.Quantity `json:"gpus,omitempty"`
	// Share is the weight of the consumer: two consumers with the shares 3 and 1 get three quarters and one quarter of the
	// spare GPUs. From 1 to 1000. Default 1.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Share int32 `json:"share,omitempty"`
	// Run is how long a replica runs at most, for example 20m. A replica starts only if its GPUs stay free for that long.
	// From 1m to 24h.
	Run Duration `json:"run"`
}

// GPUFleetStatus is the state of the fleet when Forewarm last wrote this status. Numbers are rounded for readability.
type GPUFleetStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions says what works and what does not, with the reason and what to do.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// GPUs is how many GPUs the fleet has. Empty while that is unknown.
	// +optional
	GPUs string `json:"gpus,omitempty"`
	// Members is how many GPUs the members hold or ask for.
	// +optional
	Members string `json:"members,omitempty"`
	// Other is how many GPUs pods use that belong neither to members nor to batch work.
	// +optional
	Other string `json:"other,omitempty"`
	// Spare is how many replicas each consumer may run now, in one line: "embeddings 12, evals 0".
	// +optional
	Spare string `json:"spare,omitempty"`
	// Batch lists the consumers.
	// +listType=map
	// +listMapKey=name
	// +optional
	Batch []FleetBatchStatus `json:"batch,omitempty"`
	// Message explains the numbers.
	// +optional
	Message string `json:"message,omitempty"`
}

// FleetBatchStatus is what one consumer may use.
type FleetBatchStatus struct {
	// Name is the name of the consumer.
	Name string `json:"name"`
	// Replicas is how many replicas may run now, including those that run.
	// +optional
	Replicas int32 `json:"replicas"`
	// Running is how many replicas hold GPUs or wait for them.
	// +optional
	Running int32 `json:"running"`
	// Need is how many GPUs are kept for the members for the length of a run.
	// +optional
	Need string `json:"need,omitempty"`
}

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

const (
	// FleetResource is the plural name under which the outlooks of GPUFleets are served.
	FleetResource = "gpufleets"
	// FleetKind is the kind of the outlook of one GPUFleet.
	FleetKind = "FleetOutlook"
)

// +kubebuilder:object:root=true

// FleetOutlook is everything that Forewarm currently knows about one GPUFleet: how its GPUs are used, what batch work may
// use, and the day ahead. It has the namespace and the name of its GPUFleet. It is read-only and never stored. The
// subresource page shows it as an HTML page.
type FleetOutlook struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object's metadata: the namespace and the name of the GPUFleet.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Status is the outlook itself. There is no spec, because an outlook cannot be configured.
	Status FleetOutlookStatus `json:"status"`
}

// +kubebuilder:object:root=true

// FleetOutlookList is a list of outlooks of GPUFleets without their days, sorted by namespace and name.
type FleetOutlookList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items lists the outlooks.
	Items []FleetOutlook `json:"items"`
}

// FleetOutlookStatus is the outlook itself. Unknown numbers are left out. No number is ever NaN or infinite.
type FleetOutlookStatus struct {
	// Problem says why batch work gets no metric. Absent if it gets one.
	// +optional
	Problem string `json:"problem,omitempty"`
	// Time is the time of the plan. Absent without a plan.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// GPUs is the number of GPUs of the fleet.
	// +optional
	GPUs *float64 `json:"gpus,omitempty"`
	// Members is the number of GPUs that the members hold or ask for.
	// +optional
	Members *float64 `json:"members,omitempty"`
	// Other is the number of GPUs that pods hold which are neither members nor batch work.
	// +optional
	Other *float64 `json:"other,omitempty"`
	// Batch lists the consumers of the spare GPUs.
	// +optional
	// +listType=map
	// +listMapKey=name
	Batch []FleetBatch `json:"batch,omitempty"`
	// Shortage says when the members will need more GPUs than there are in the next day. Absent if they will not.
	// +optional
	Shortage string `json:"shortage,omitempty"`
	// Day is the day ahead. Absent in lists, and without a plan.
	// +optional
	Day *FleetDay `json:"day,omitempty"`
}

// FleetBatch is batch work that uses spare GPUs.
type FleetBatch struct {
	// Name is the name of the consumer.
	Name string `json:"name"`
	// Replicas is how many replicas may run now, including those that run.
	Replicas int32 `json:"replicas"`
	// Running is how many replicas hold GPUs or wait for them.
	Running int32 `json:"running"`
	// GPUs is the number of GPUs of a replica.
	GPUs float64 `json:"gpus"`
	// Run is how long a replica runs, at most.
	Run metav1.Duration `json:"run"`
	// Need is the number of GPUs that are kept for the members for the length of a run. Absent if a member without a limit
	// counts with all replicas that it may have.
	// +optional
	Need *float64 `json:"need,omitempty"`
	// Message explains the number of replicas, or why the consumer gets no metric.
	Message string `json:"message"`
}

// FleetDay is a day ahead, in hours.
type FleetDay struct {
	// Hours lists when the hours begin, oldest first.
	// +listType=atomic
	Hours []metav1.Time `json:"hours"`
	// GPUs is the number of GPUs that the members may use.
	GPUs float64 `json:"gpus"`
	// Total is the number of GPUs that all members together are expected to need in each hour.
	// +listType=atomic
	Total []float64 `json:"total"`
	// Members lists the members in the order of the fleet.
	// +listType=atomic
	Members []FleetMember `json:"members"`
}

// FleetMember is the day ahead of a member.
type FleetMember struct {
	// Name is the name of the Forecast.
	Name string `json:"name"`
	// GPUs is what its demand is expected to need in each hour.
	// +listType=atomic
	GPUs []float64 `json:"gpus"`
	// Unknown is true if neither history nor a forecast says what the member will need in some of the hours. There it counts
	// with what it holds now.
	// +optional
	Unknown bool `json:"unknown,omitempty"`
}

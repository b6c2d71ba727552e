package hpacases

// Case is one HPA and what its controller did at each sync. It is a line of the recording; pkg/core/hpa's tests read
// the same format.
type Case struct {
	Spec  Spec   `json:"spec"`
	Syncs []Sync `json:"syncs"`
}

// Spec is the HPA and the controller's flags. Durations are in seconds.
type Spec struct {
	Min           int32    `json:"min"`
	Max           int32    `json:"max"`
	Metrics       []Metric `json:"metrics"`
	Up            *Rules   `json:"up,omitempty"`
	Down          *Rules   `json:"down,omitempty"`
	Tolerance     float64  `json:"tolerance"`
	Stabilization int32    `json:"stabilization"`
	ScaleToZero   bool     `json:"scaleToZero,omitempty"`
	Every         int32    `json:"every"`
}

// Metric is one metric's source (External or Object), target type (AverageValue or Value) and target in milli-units.
type Metric struct {
	Source string `json:"source"`
	Type   string `json:"type"`
	Target int64  `json:"target"`
}

// Rules are one direction's behavior as the API server completes it; no stabilization is the cluster's.
type Rules struct {
	Stabilization *int32   `json:"stabilization,omitempty"`
	Select        string   `json:"select"`
	Policies      []Policy `json:"policies"`
	Tolerance     string   `json:"tolerance,omitempty"`
}

// Policy is one policy.
type Policy struct {
	Type   string `json:"type"`
	Value  int32  `json:"value"`
	Period int32  `json:"period"`
}

// Sync is what the controller saw and did at one time.
type Sync struct {
	// At is the time of the sync in milliseconds from the controller's start.
	At int64 `json:"at"`
	// Replicas asked for before, existing, under the selector, and ready.
	Replicas int32 `json:"replicas"`
	Existing int32 `json:"existing"`
	Pods     int32 `json:"pods"`
	Ready    int32 `json:"ready"`
	// Readings of each metric in milli-units; null where the metrics API failed.
	Readings [][]int64 `json:"readings"`
	// Result asked for, and the reasons of the conditions ScalingActive, AbleToScale and ScalingLimited after it.
	Result  int32  `json:"result"`
	Active  string `json:"active"`
	Able    string `json:"able"`
	Limited string `json:"limited"`
}

package explain

// Explanation is what an HPA computes at its next sync, and why.
type Explanation struct {
	HPA    string `json:"hpa"`
	Target string `json:"target"`
	// Replicas is the present scale.
	Replicas int32 `json:"replicas"`
	// Desired is what the next sync asks for; absent where none of the metrics can be computed.
	Desired *int32 `json:"desiredReplicas,omitempty"`
	// AtLeast is true if metrics that are not computed may ask for more than Desired.
	AtLeast bool `json:"atLeast,omitempty"`
	// Settles is where it ends if the readings stay as they are.
	Settles *Settling `json:"settles,omitempty"`
	// Sentences say why, in order.
	Sentences []string  `json:"sentences"`
	Warnings  []Warning `json:"warnings"`
	// Unknown lists what could not be read, and what is used instead.
	Unknown []string     `json:"unknown,omitempty"`
	Metrics []MetricLine `json:"metrics"`
	// Live is the HPA's own status; absent without one.
	Live *StatusComparison `json:"live,omitempty"`
}

// Settling is a number of replicas and how long it takes to come to it.
type Settling struct {
	Replicas int32 `json:"replicas"`
	// Seconds until then, at a sync of 15 s.
	Seconds float64 `json:"seconds"`
	// Open is true if it still changes at the end of the simulated time.
	Open bool `json:"open,omitempty"`
}

// Warning is something in an HPA that does harm, or keeps a forecast from doing good.
type Warning struct {
	// Reason in one word, for scripts.
	Reason string `json:"reason"`
	// Message is the problem with its numbers; Advice is what to do.
	Message string `json:"message"`
	Advice  string `json:"advice"`
}

// MetricLine is one metric.
type MetricLine struct {
	Name string `json:"name"`
	// Type of the metric: External, Object, Resource, …
	Type string `json:"type"`
	// Target in words: "64 a replica".
	Target string `json:"target"`
	// Value that was read; absent where it could not be.
	Value *float64 `json:"value,omitempty"`
	// Live is the value by the HPA's status, in words.
	Live string `json:"live,omitempty"`
	// From is the source of Value.
	From string `json:"from,omitempty"`
	// Ratio of the value to its target, Proposes the replicas that the metric asks for; absent where not computed.
	Ratio    *float64 `json:"ratio,omitempty"`
	Proposes *int32   `json:"proposes,omitempty"`
	// WithinTolerance is true if the ratio is too near to 1 for a change.
	WithinTolerance bool `json:"withinTolerance,omitempty"`
	// Decides is true if this metric asks for the most.
	Decides bool `json:"decides,omitempty"`
	// Forecast behind the metric, by name.
	Forecast string `json:"forecast,omitempty"`
	// Error is the reason why there is no value.
	Error string `json:"error,omitempty"`
}

// StatusComparison compares an HPA's status with an Explanation.
type StatusComparison struct {
	Desired int32 `json:"desiredReplicas"`
	Agrees  bool  `json:"agrees"`
	// SameReadings is true if the HPA last read the explained values.
	SameReadings bool `json:"sameReadings"`
	// Why they can differ.
	Why []string `json:"why,omitempty"`
}

package hpa

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// The limits that the API server sets on a behavior.
const (
	maxPeriod        = 30 * time.Minute
	maxStabilization = time.Hour
)

// Spec contains everything that determines the number of replicas: the fields of an HPA and the flags of its controller.
type Spec struct {
	// Min is minReplicas, or 1 if the HPA omits it. 0 needs Cluster.ScaleToZero and an External or Object metric.
	Min int32
	// Max is maxReplicas, at least 1 and at least Min.
	Max int32
	// Metrics has at least one metric. The largest proposal wins.
	Metrics []Metric
	// Behavior is nil if the HPA has none. This selects another algorithm, not the default behavior: one sync at most doubles the replicas
	// (or scales to 4), and scale-down is stabilized over the cluster's window.
	Behavior *Behavior
	// Cluster holds the controller-manager's flags.
	Cluster Cluster
}

// Cluster holds the kube-controller-manager's flags, which apply to every HPA.
type Cluster struct {
	// Tolerance is --horizontal-pod-autoscaler-tolerance. The HPA changes nothing while the ratio of a metric to its target differs from 1
	// by at most this tolerance.
	Tolerance float64
	// DownscaleStabilization is --horizontal-pod-autoscaler-downscale-stabilization.
	DownscaleStabilization time.Duration
	// ScaleToZero is the feature gate HPAScaleToZero: off up to 1.36, on from 1.37.
	ScaleToZero bool
}

// DefaultCluster returns the defaults of the controller-manager: tolerance 0.1, stabilization 5 minutes.
func DefaultCluster() Cluster {
	return Cluster{Tolerance: 0.1, DownscaleStabilization: 5 * time.Minute}
}

// MetricType is the type of a metric's source.
type MetricType string

// The sources that an adapter serves.
const (
	External MetricType = "External"
	Object   MetricType = "Object"
)

// TargetType is the type of a metric's target.
type TargetType string

// The types of a target.
const (
	// AverageValue divides the metric by the target: ceil(metric / target) replicas, no matter how many are ready.
	AverageValue TargetType = "AverageValue"
	// Value multiplies the ready pods by the ratio of the metric to the target.
	Value TargetType = "Value"
)

// Metric is one entry of an HPA's metrics.
type Metric struct {
	// Name appears only in messages.
	Name   string
	Source MetricType
	Type   TargetType
	// Target in milli-units, above 0.
	Target int64
}

// Behavior is an HPA's behavior. A direction that the HPA omits has DefaultScaleUp or DefaultScaleDown; within a
// direction, the API server fills in what is omitted.
type Behavior struct {
	Up, Down Rules
}

// Rules limit one direction.
type Rules struct {
	// Stabilization is the window whose most cautious recommendation applies; at most an hour. A negative value (only for scale-down) means
	// the cluster's window.
	Stabilization time.Duration
	// Select is the rule by which one of several policies applies.
	Select Select
	// Policies limit the change within a period.
	Policies []ScalingPolicy
	// Tolerance of this direction; nil means the tolerance of the cluster.
	Tolerance *float64
}

// Select is the rule by which one of several policies applies.
type Select string

// The choices of selectPolicy.
const (
	SelectMax      Select = "Max"      // the one that allows the largest change
	SelectMin      Select = "Min"      // the one that allows the smallest change
	SelectDisabled Select = "Disabled" // no change in this direction
)

// PolicyType is the unit of a policy's value.
type PolicyType string

// The types of a policy.
const (
	Pods    PolicyType = "Pods"
	Percent PolicyType = "Percent"
)

// ScalingPolicy allows a change of Value (above 0) within Period (above 0, at most 30 minutes).
type ScalingPolicy struct {
	Type   PolicyType
	Value  int32
	Period time.Duration
}

// DefaultScaleUp returns the API server's default: 4 pods or a doubling within 15 s, whichever is more, without
// stabilization.
func DefaultScaleUp() Rules {
	return Rules{Select: SelectMax, Policies: []ScalingPolicy{
		{Type: Pods, Value: 4, Period: 15 * time.Second},
		{Type: Percent, Value: 100, Period: 15 * time.Second},
	}}
}

// DefaultScaleDown returns the API server's default: any number within 15 s, stabilized over the cluster's window.
func DefaultScaleDown() Rules {
	return Rules{Stabilization: -1, Select: SelectMax, Policies: []ScalingPolicy{
		{Type: Percent, Value: 100, Period: 15 * time.Second},
	}}
}

// Validate returns every problem of a Spec, by the API server's rules.
func (s *Spec) Validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if s.Min < 0 || s.Min == 0 && !s.Cluster.ScaleToZero {
		wrong("minReplicas %d: expected at least 1 (0 needs the feature gate HPAScaleToZero)", s.Min)
	}
	if s.Max < 1 || s.Max < s.Min {
		wrong("maxReplicas %d: expected at least 1 and at least minReplicas %d", s.Max, s.Min)
	}
	if len(s.Metrics) == 0 {
		wrong("no metric: expected at least one")
	}
	for i := range s.Metrics {
		problems = append(problems, s.Metrics[i].validate(i))
	}
	if !validTolerance(s.Cluster.Tolerance) {
		wrong("the cluster's tolerance %g: expected 0 or more", s.Cluster.Tolerance)
	}
	if s.Cluster.DownscaleStabilization < 0 {
		wrong("the cluster's scale-down stabilization %s: expected 0 or more", s.Cluster.DownscaleStabilization)
	}
	if s.Behavior != nil {
		problems = append(problems, s.Behavior.Up.validate("scaleUp"), s.Behavior.Down.validate("scaleDown"))
		if s.Behavior.Up.Stabilization < 0 {
			wrong("scaleUp: stabilizationWindowSeconds %v: expected 0 or more", s.Behavior.Up.Stabilization.Seconds())
		}
	}
	return errors.Join(problems...)
}

func (m *Metric) validate(i int) error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("metric %d (%s): "+format, append([]any{i, m.Name}, args...)...))
	}
	if m.Source != External && m.Source != Object {
		wrong("source %q: expected External or Object", m.Source)
	}
	if m.Type != AverageValue && m.Type != Value {
		wrong("target type %q: expected AverageValue or Value", m.Type)
	}
	if m.Target <= 0 {
		wrong("target %dm: expected more than 0", m.Target)
	}
	return errors.Join(problems...)
}

func (r *Rules) validate(direction string) error {
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf(direction+": "+format, args...))
	}
	if r.Stabilization > maxStabilization {
		wrong(
			"stabilizationWindowSeconds %.0f: expected at most %.0f",
			r.Stabilization.Seconds(),
			maxStabilization.Seconds(),
		)
	}
	if r.Tolerance != nil && !validTolerance(*r.Tolerance) {
		wrong("tolerance %g: expected 0 or more", *r.Tolerance)
	}
	switch r.Select {
	case SelectMax, SelectMin, SelectDisabled:
	default:
		wrong("selectPolicy %q: expected Max, Min or Disabled", r.Select)
	}
	if len(r.Policies) == 0 {
		wrong("no policy: expected at least one")
	}
	for _, p := range r.Policies {
		if p.Type != Pods && p.Type != Percent {
			wrong("policy type %q: expected Pods or Percent", p.Type)
		}
		if p.Value <= 0 || p.Period <= 0 || p.Period > maxPeriod {
			wrong(
				"a policy with value %d and periodSeconds %.0f: expected a value above 0 and periodSeconds from 1 to %.0f",
				p.Value,
				p.Period.Seconds(),
				maxPeriod.Seconds(),
			)
		}
	}
	return errors.Join(problems...)
}

func validTolerance(t float64) bool { return t >= 0 && !math.IsInf(t, 1) }

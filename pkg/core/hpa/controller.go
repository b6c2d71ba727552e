package hpa

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Reason is the reason of a condition of the HPA.
type Reason string

// ScalingActive is the type of the condition that says whether the controller reads the metrics.
const ScalingActive = "ScalingActive"

// The reasons of the three conditions.
const (
	// ValidMetricFound and the reasons below it belong to the condition ScalingActive.
	ValidMetricFound Reason = "ValidMetricFound"
	ScalingDisabled  Reason = "ScalingDisabled"
	FailedGetMetric  Reason = "FailedGetMetric" // the controller inserts the source: FailedGetExternalMetric

	// ReadyForNewScale and the reasons below it belong to the condition AbleToScale.
	ReadyForNewScale    Reason = "ReadyForNewScale"
	ScaleUpStabilized   Reason = "ScaleUpStabilized"
	ScaleDownStabilized Reason = "ScaleDownStabilized"

	// DesiredWithinRange and the reasons below it belong to the condition ScalingLimited.
	DesiredWithinRange Reason = "DesiredWithinRange"
	TooFewReplicas     Reason = "TooFewReplicas"
	TooManyReplicas    Reason = "TooManyReplicas"
	ScaleUpLimit       Reason = "ScaleUpLimit"
	ScaleDownLimit     Reason = "ScaleDownLimit"
)

// Controller holds the state that the HPA controller keeps for one HPA: its spec, and recent recommendations and
// scalings. It is not safe for concurrent use.
type Controller struct {
	spec            *prepared // never changes
	recommendations []recommendation
	ups, downs      []change
	// scaledToZero is true after this controller scaled to zero. Only then does it scale from zero.
	scaledToZero bool
	// unchanged is the number of replicas that does not change until unchangedUntil while the proposal stays the same.
	unchanged      int32
	unchangedUntil Instant
}

// prepared is a Spec with the smallest and the largest ratio of a metric to its target within the tolerances.
type prepared struct {
	Spec

	least, most float64
}

// New returns a controller without history, as after a restart. It returns the errors of Validate.
func New(spec Spec) (*Controller, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("hpa: %w", err)
	}
	least, most := spec.tolerated()
	return &Controller{spec: &prepared{spec, least, most}, unchangedUntil: never}, nil
}

// RecordScaling records a scaling that happened before this controller started. The policies count it. After a scaling to zero, the
// controller may scale up again. Scalings are recorded in the order of their times.
func (c *Controller) RecordScaling(at time.Time, from, to int32) {
	c.remember(InstantOf(at), from, to)
}

// SyncResult is the result of one sync, with its reasons.
type SyncResult struct {
	// Replicas is what the controller writes: spec.replicas of the scale subresource, status.desiredReplicas of the
	// HPA.
	Replicas int32
	// Proposed is the metrics' proposal. Stabilized is the proposal after stabilization and before the limits. Both are meaningful only if
	// Active is ValidMetricFound.
	Proposed, Stabilized int32
	// Metric is the index of the metric with the largest proposal; −1 if there is no proposal.
	Metric int
	// Active, Able and Limited are the reasons of the conditions ScalingActive, AbleToScale and ScalingLimited; empty if this sync does not
	// set the condition.
	Active, Able, Limited Reason
	// Err joins the errors of the metrics that could not be read. With Active FailedGetMetric the replicas do not change: all metrics
	// failed, or the other metrics propose fewer replicas than there are.
	Err error
}

// Instant is a time in nanoseconds since 1970. It is faster than time.Time, which matters because simulations compare millions of times.
type Instant int64

// InstantOf returns a time as an Instant.
func InstantOf(t time.Time) Instant { return Instant(t.UnixNano()) }

// Add returns the time after a duration.
func (t Instant) Add(d time.Duration) Instant { return t + Instant(d) }

// never is earlier than every other Instant.
const never Instant = math.MinInt64

// Sync is one pass of the control loop. The caller applies its Replicas.
func (c *Controller) Sync(at time.Time, o Observed) SyncResult {
	now := InstantOf(at)
	out := SyncResult{Replicas: o.Replicas, Metric: -1}
	to, looks := c.beforeMetrics(now, o.Replicas)
	switch {
	case looks:
		if !c.propose(&o, &out) {
			return out
		}
		out.Stabilized, out.Able = c.stabilize(now, o.Replicas, max(out.Proposed, 0))
		to, out.Limited = c.limit(now, o.Replicas, out.Stabilized)
		to = c.result(now, o.Replicas, out.Stabilized, to)
	case to == 0:
		out.Active = ScalingDisabled
	}
	out.Replicas = to
	c.remember(now, o.Replicas, to)
	return out
}

// SyncValue is Sync for an HPA with one metric of one value in milli-units. It ignores the observed readings and returns only the replicas.
// It is faster than Sync, because simulations call it millions of times.
func (c *Controller) SyncValue(now Instant, o *Observed, value int64) int32 {
	if c.Repeats(now, o, value) {
		return o.Replicas
	}
	to, looks := c.beforeMetrics(now, o.Replicas)
	if looks {
		proposed, err := c.proposeOne(o, value)
		if err != nil {
			return o.Replicas
		}
		held, _ := c.stabilize(now, o.Replicas, proposed)
		to, _ = c.limit(now, o.Replicas, held)
		to = c.result(now, o.Replicas, held, to)
	}
	c.remember(now, o.Replicas, to)
	return to
}

// Repeats reports whether every SyncValue until a time, with the same observations, changes nothing, because the previous one had the same
// proposal and changed nothing. If so, Repeats records these syncs.
func (c *Controller) Repeats(until Instant, o *Observed, value int64) bool {
	if o.Replicas != c.unchanged || until > c.unchangedUntil {
		return false
	}
	last := &c.recommendations[len(c.recommendations)-1]
	if proposed, err := c.proposeOne(o, value); err != nil || proposed != last.replicas {
		return false
	}
	last.newest = max(last.newest, until)
	return true
}

// proposeOne returns the replicas that the only metric proposes for a value, at least 0.
func (c *Controller) proposeOne(o *Observed, value int64) (int32, error) {
	m := &c.spec.Metrics[0]
	if m.Source == External && m.overflown(value) {
		value = math.MaxInt64
	}
	if m.Type != AverageValue {
		p := c.spec.proposeValue(m, o, value)
		return max(p.Replicas, 0), p.Err
	}
	replicas, _, _ := m.average(o.Existing, value, c.spec.least, c.spec.most)
	return max(replicas, 0), nil
}

// beforeMetrics applies the rules that do not need the metrics. looks is false if these rules decide the number of replicas.
func (c *Controller) beforeMetrics(now Instant, replicas int32) (to int32, looks bool) {
	c.unchangedUntil = never
	if c.recommendations == nil {
		c.recommendations = []recommendation{{now, replicas}}
	}
	switch {
	case replicas == 0:
		return 0, c.mayScaleFromZero()
	case replicas > c.spec.Max:
		return c.spec.Max, false
	case replicas < c.spec.Min:
		return c.spec.Min, false
	}
	return replicas, true
}

// result returns the final number of replicas after stabilization and limits, and records how long it stays the same.
func (c *Controller) result(now Instant, current, held, limited int32) int32 {
	if current == 0 {
		limited = max(limited, c.spec.Min)
	}
	if held == current && limited == current {
		c.unchanged, c.unchangedUntil = current, c.stableUntil(now)
	}
	return limited
}

// mayScaleFromZero reports whether the controller reads the metrics of a workload with zero replicas. It does so only if this HPA scaled
// the workload to zero. A workload that something else scaled to zero stays at zero.
func (c *Controller) mayScaleFromZero() bool { return c.spec.Cluster.ScaleToZero && c.scaledToZero }

// propose evaluates every metric; the largest proposal wins. If some metrics fail, the other metrics can still scale up, but not down. It
// reports whether there is a usable proposal.
func (c *Controller) propose(o *Observed, out *SyncResult) bool {
	var failed []error
	for i := range c.spec.Metrics {
		m := &c.spec.Metrics[i]
		reading := Reading{Err: errNoReading}
		if i < len(o.Readings) {
			reading = o.Readings[i]
		}
		p := c.spec.Propose(m, o, reading)
		switch {
		case p.Err != nil:
			failed = append(failed, fmt.Errorf("metric %s: %w", m.Name, p.Err))
		case out.Proposed == 0 || p.Replicas > out.Proposed:
			// As in the controller, any later proposal replaces a first proposal of 0, even a smaller one.
			out.Proposed, out.Metric = p.Replicas, i
		}
	}
	if len(failed) > 0 {
		out.Err = errors.Join(failed...)
	}
	if len(failed) == len(c.spec.Metrics) || len(failed) > 0 && out.Proposed < o.Replicas {
		out.Active, out.Metric = FailedGetMetric, -1
		return false
	}
	out.Active = ValidMetricFound
	return true
}

// errNoReading means that the caller passed fewer readings than there are metrics.
var errNoReading = errors.New("no reading")

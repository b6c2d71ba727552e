package hpa

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Reason is the word that the controller puts into a condition of the HPA.
type Reason string

// The reasons of the three conditions.
const (
	// ScalingActive.
	ValidMetricFound Reason = "ValidMetricFound"
	ScalingDisabled  Reason = "ScalingDisabled"
	FailedGetMetric  Reason = "FailedGetMetric" // the controller's own names the source: FailedGetExternalMetric

	// AbleToScale.
	ReadyForNewScale    Reason = "ReadyForNewScale"
	ScaleUpStabilized   Reason = "ScaleUpStabilized"
	ScaleDownStabilized Reason = "ScaleDownStabilized"

	// ScalingLimited.
	DesiredWithinRange Reason = "DesiredWithinRange"
	TooFewReplicas     Reason = "TooFewReplicas"
	TooManyReplicas    Reason = "TooManyReplicas"
	ScaleUpLimit       Reason = "ScaleUpLimit"
	ScaleDownLimit     Reason = "ScaleDownLimit"
)

// Controller is the controller's view of one HPA: its spec, and what it remembers between syncs. It is not safe for
// concurrent use.
type Controller struct {
	spec            *Spec // never changed
	recommendations []recommendation
	ups, downs      []change
	// scaledToZero says that it was this controller who scaled to zero, and so may wake the workload.
	scaledToZero bool
	// settled is until when a sync that observes what the newest one did changes nothing.
	settled instant
}

// New starts a controller on a spec, as after a restart: without memory. It returns what Validate finds.
func New(spec Spec) (*Controller, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("hpa: %w", err)
	}
	return &Controller{spec: &spec, settled: never}, nil
}

// Recall has a controller remember a change that it made before, as one who knows of it from outside must. The policies
// count it, and who went to zero may wake. Changes are recalled in the order of their times.
func (c *Controller) Recall(at time.Time, from, to int32) {
	c.remember(instant(at.UnixNano()), from, to)
}

// Restarted is a controller on the same spec, without memory.
func (c *Controller) Restarted() Controller { return Controller{spec: c.spec, settled: never} }

// Outcome is what one sync decided, and why.
type Outcome struct {
	// Replicas that the controller asks for: spec.replicas of the scale sub-resource, status.desiredReplicas of the HPA.
	Replicas int32
	// Proposed by the metrics, before stabilization and limits; Stabilized before the limits. Both are meaningful only
	// with Active ValidMetricFound.
	Proposed, Stabilized int32
	// Metric is the index of the metric that decided; −1 where none did.
	Metric int
	// Active, Able and Limited are the reasons of the conditions ScalingActive, AbleToScale and ScalingLimited; empty
	// where this sync did not set it.
	Active, Able, Limited Reason
	// Err joins the errors of the metrics that could not be read. With Active FailedGetMetric nothing was changed for it:
	// all metrics failed, or the others ask for less than there is.
	Err error
}

// instant is a time in nanoseconds since 1970: simulations compare a great many.
type instant int64

// never is before any.
const never instant = math.MinInt64

func (t instant) before(d time.Duration) instant { return t - instant(d) }

// Sync is one pass of the control loop. The caller does what it says: Replicas counts as asked for.
func (c *Controller) Sync(at time.Time, o Observed) Outcome {
	now := instant(at.UnixNano())
	out := Outcome{Replicas: o.Replicas, Metric: -1}
	to, looks := c.begin(now, o.Replicas)
	switch {
	case looks:
		if !c.propose(&o, &out) {
			return out
		}
		out.Stabilized, out.Able = c.stabilize(now, o.Replicas, max(out.Proposed, 0))
		to, out.Limited = c.limit(now, o.Replicas, out.Stabilized)
		to = c.follow(now, o.Replicas, out.Stabilized, to)
	case to == 0:
		out.Active = ScalingDisabled
	}
	out.Replicas = to
	c.remember(now, o.Replicas, to)
	return out
}

// SyncValue is a Sync of an HPA with one metric, whose source answers with one value in milli-units, for a caller who asks
// for the replicas alone: shadows sync by the million. The readings observed are not looked at.
func (c *Controller) SyncValue(at time.Time, o Observed, value int64) int32 {
	now := instant(at.UnixNano())
	to, looks := c.begin(now, o.Replicas)
	if looks {
		p := c.spec.proposeOne(&c.spec.Metrics[0], &o, value)
		if p.Err != nil {
			return o.Replicas
		}
		held, _ := c.stabilize(now, o.Replicas, max(p.Replicas, 0))
		to, _ = c.limit(now, o.Replicas, held)
		to = c.follow(now, o.Replicas, held, to)
	}
	c.remember(now, o.Replicas, to)
	return to
}

// begin says whether a sync looks at the metrics and, where it does not, how many replicas it asks for.
func (c *Controller) begin(now instant, replicas int32) (to int32, looks bool) {
	c.settled = never
	if c.recommendations == nil {
		c.recommendations = []recommendation{{now, replicas}}
	}
	switch {
	case replicas == 0:
		return 0, c.mayWake()
	case replicas > c.spec.Max:
		return c.spec.Max, false
	case replicas < c.spec.Min:
		return c.spec.Min, false
	}
	return replicas, true
}

// follow is where a recommendation leads that was held and limited.
func (c *Controller) follow(now instant, current, held, limited int32) int32 {
	if current == 0 {
		limited = max(limited, c.spec.Min)
	}
	if held == current && limited == current {
		c.settled = c.undisturbed(now)
	}
	return limited
}

// Again is a sync that observes exactly what the one before it did. It says whether it needs no Sync: nothing would change,
// then or at any repetition up to that time. Simulations repeat most of theirs. Only for AverageValue targets, as the
// others look at pods.
func (c *Controller) Again(at time.Time) bool {
	now := instant(at.UnixNano())
	if now > c.settled {
		return false
	}
	last := &c.recommendations[len(c.recommendations)-1]
	last.newest = max(last.newest, now)
	return true
}

// mayWake says whether a workload at zero is looked at: only where this HPA put it there. One that somebody else scaled
// to zero is switched off.
func (c *Controller) mayWake() bool { return c.spec.Cluster.ScaleToZero && c.scaledToZero }

// propose asks every metric; the largest proposal wins. Where some cannot be read, the others may still scale up, not
// down. It says whether the metrics can be followed.
func (c *Controller) propose(o *Observed, out *Outcome) bool {
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
			// The first 0 gives way to anything, even to less, in the controller as here.
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

// errNoReading is the fault of a caller that hands in fewer readings than there are metrics.
var errNoReading = errors.New("no reading")

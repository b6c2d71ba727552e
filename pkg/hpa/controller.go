package hpa

import (
	"errors"
	"fmt"
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
	spec            Spec
	recommendations []recommendation
	ups, downs      []change
	// scaledToZero says that it was this controller who scaled to zero, and so may wake the workload.
	scaledToZero bool
	proposals    []Proposal
	// settled: the newest sync followed its metrics, changed nothing, and no earlier recommendation says otherwise.
	settled bool
}

// New starts a controller on a spec, as after a restart: without memory. It returns what Validate finds.
func New(spec Spec) (*Controller, error) {
	if err := spec.Validate(); err != nil {
		return nil, fmt.Errorf("hpa: %w", err)
	}
	return &Controller{spec: spec}, nil
}

// Recall has a controller remember a change that it made before, as one who knows of it from outside must. The policies
// count it, and who went to zero may wake. Changes are recalled in the order of their times.
func (c *Controller) Recall(at time.Time, from, to int32) {
	c.remember(instant(at.UnixNano()), from, to)
	c.scaledToZero = to == 0
}

// Outcome is what one sync decided, and why.
type Outcome struct {
	// Replicas that the controller asks for: spec.replicas of the scale sub-resource, status.desiredReplicas of the HPA.
	Replicas int32
	// Proposed by the metrics, before stabilization and limits; Stabilized before the limits. Both are meaningful only
	// with Active ValidMetricFound.
	Proposed, Stabilized int32
	// Proposals of each metric, in the order of the Spec; nil where the metrics were not looked at. They are good until
	// the next sync.
	Proposals []Proposal
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

func (t instant) before(d time.Duration) instant { return t - instant(d) }

// Sync is one pass of the control loop. The caller does what it says: Replicas counts as asked for.
func (c *Controller) Sync(at time.Time, o Observed) Outcome {
	now := instant(at.UnixNano())
	c.settled = false
	if c.recommendations == nil {
		c.recommendations = []recommendation{{now, o.Replicas}}
	}
	out := Outcome{Replicas: o.Replicas, Metric: -1}
	switch {
	case o.Replicas == 0 && !c.mayWake():
		out.Active = ScalingDisabled
		return out
	case o.Replicas > c.spec.Max:
		out.Replicas = c.spec.Max
	case o.Replicas < c.spec.Min && o.Replicas != 0:
		out.Replicas = c.spec.Min
	default:
		if !c.byMetrics(now, &o, &out) {
			return out
		}
		c.settled = out.Replicas == o.Replicas && out.Proposed == o.Replicas && len(c.recommendations) == 1
	}
	if out.Replicas != o.Replicas {
		c.remember(now, o.Replicas, out.Replicas)
		c.scaledToZero = out.Replicas == 0
	}
	return out
}

// Again is a sync that observes exactly what the one before it did. It says whether it needs no Sync: nothing would change,
// now or at any later repetition. Simulations repeat most of theirs. Only for AverageValue targets, as the others look at
// pods.
func (c *Controller) Again(at time.Time) bool {
	if !c.settled {
		return false
	}
	last := &c.recommendations[len(c.recommendations)-1]
	last.newest = max(last.newest, instant(at.UnixNano()))
	return true
}

// mayWake says whether a workload at zero is looked at: only where this HPA put it there. One that somebody else scaled
// to zero is switched off.
func (c *Controller) mayWake() bool { return c.spec.Cluster.ScaleToZero && c.scaledToZero }

// byMetrics follows the metrics, and says whether they could be followed.
func (c *Controller) byMetrics(now instant, o *Observed, out *Outcome) bool {
	if !c.propose(o, out) {
		return false
	}
	// The controller starts from 0 and lets no metric go below.
	proposed := max(out.Proposed, 0)
	out.Stabilized, out.Able = c.stabilize(now, o.Replicas, proposed)
	out.Replicas, out.Limited = c.limit(now, o.Replicas, out.Stabilized)
	if o.Replicas == 0 {
		out.Replicas = max(out.Replicas, c.spec.Min)
	}
	return true
}

// propose asks every metric; the largest proposal wins. Where some cannot be read, the others may still scale up, not
// down.
func (c *Controller) propose(o *Observed, out *Outcome) bool {
	c.proposals = c.proposals[:0]
	var failed []error
	for i := range c.spec.Metrics {
		m := &c.spec.Metrics[i]
		reading := Reading{Err: errNoReading}
		if i < len(o.Readings) {
			reading = o.Readings[i]
		}
		p := c.spec.propose(m, o, reading)
		c.proposals = append(c.proposals, p)
		switch {
		case p.Err != nil:
			failed = append(failed, fmt.Errorf("metric %s: %w", m.Name, p.Err))
		case out.Proposed == 0 || p.Replicas > out.Proposed:
			// The first 0 gives way to anything, even to less, in the controller as here.
			out.Proposed, out.Metric = p.Replicas, i
		}
	}
	out.Proposals = c.proposals
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

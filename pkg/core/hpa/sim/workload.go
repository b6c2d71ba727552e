package sim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Workload is a simulated autoscaler: an HPA, its pods and the queue in front of them. It is simulated step by step.
type Workload struct {
	settings   *settings
	controller hpa.Controller
	cluster    cluster
	queue      queue
	deferred   deferred
	step       int
	// band is the dead band at bandOf replicas.
	bandOf int32
	band   hpa.DeadBand
}

// StepResult is the result of one step.
type StepResult struct {
	At time.Time
	// Value is what the HPA read last, in the unit of the demand.
	Value float64
	// Replicas were requested, Ready of them are ready. Held is the number of places paid for; Idle of them are held by
	// a warm pool.
	Replicas, Ready, Held, Idle int
	// Started and Stopped are the replicas by which the HPA changed the request. Queued of the started ones found no
	// place. Waiting replicas wait for a node.
	Started, Stopped, Queued, Waiting int
	// Arrived, Late, Served and Dropped are the demand of the step, and Backlog is what waits at its end, in
	// replica-hours.
	Arrived, Late, Served, Dropped, Backlog float64
	// Deferrable work of the step, that which Missed its deadline, and what is Deferred at its end, in replica-hours.
	Deferrable, Missed, Deferred float64
}

// newWorkload returns a workload whose ready replicas serve the given demand. See New.
func newWorkload(spec Spec, start time.Time, step time.Duration, demand float64) (*Workload, error) {
	if err := spec.Validate(step); err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	spec = spec.WithDefaults()
	controller, err := hpa.New(spec.HPA)
	if err != nil {
		return nil, err
	}
	if spec.FromZero {
		controller.RecordScaling(start, 1, 0)
	}
	k := newSettings(&spec, start, step)
	return &Workload{
		settings:   k,
		controller: *controller,
		cluster:    newCluster(k, k.initialReplicas(demand)),
		deferred:   newDeferred(k),
	}, nil
}

// newSibling returns a workload of the same settings without replicas. No step was played yet: the controller has no
// history.
func (w *Workload) newSibling() Workload {
	return Workload{
		settings:   w.settings,
		controller: w.controller,
		cluster:    newCluster(w.settings, 0),
		deferred:   newDeferred(w.settings),
	}
}

// Step simulates the next step: pods that are due become ready, the HPA syncs if it is time, and the demand arrives.
// NaN demand is none. A value that an adapter would not serve counts as a failed reading.
func (w *Workload) Step(value, demand float64) StepResult {
	before := w.count()
	f := w.play(value, w.settings.arrivalOf(demand))
	m := w.result(before, value)
	m.setFlow(f, w.queue.backlog)
	m.Deferrable, m.Missed = hours(f.deferrable.arrived), hours(f.deferrable.missed)
	m.Deferred = hours(w.deferred.total())
	return m
}

// podCount is what a step changes of the pods.
type podCount struct{ step, replicas, queued int }

func (w *Workload) count() podCount { return podCount{w.step, w.cluster.replicas(), w.cluster.queued} }

// result is what has become of the pods since a count before the step.
func (w *Workload) result(before podCount, value float64) StepResult {
	c := &w.cluster
	change := c.replicas() - before.replicas
	m := StepResult{
		At: w.at(before.step), Value: value, Started: max(change, 0), Stopped: max(-change, 0),
		Replicas: c.replicas(), Ready: c.ready, Held: c.paid(), Queued: c.queued - before.queued, Waiting: c.waiting,
	}
	if c.nodes != nil && !c.notLast {
		m.Idle = c.nodes.held
	}
	return m
}

// setFlow sets what has become of the demand.
func (m *StepResult) setFlow(f flow, backlog float64) {
	m.Arrived, m.Late = hours(f.arrived), hours(f.late)
	m.Served, m.Dropped, m.Backlog = hours(f.served), hours(f.dropped), hours(backlog)
}

// at returns the start of a step.
func (w *Workload) at(step int) time.Time {
	return w.settings.start.Add(time.Duration(step) * w.settings.step)
}

// arrival is the demand that arrives in a step.
type arrival struct {
	// replicas are kept busy by it, for so many replica-seconds.
	replicas, seconds float64
}

// arrivalOf is a demand in its own unit; NaN is none.
func (k *settings) arrivalOf(demand float64) arrival {
	if math.IsNaN(demand) {
		demand = 0
	}
	replicas := demand / k.capacity
	return arrival{replicas, replicas * k.stepSeconds}
}

// play is Step for callers that need only the flow.
func (w *Workload) play(value float64, demand arrival) flow {
	w.movePods(value)
	f := w.queue.step(w.settings, demand, float64(w.cluster.ready))
	if len(w.deferred.waiting) > 0 {
		f.deferrable = w.deferred.step(w.step-1, max(float64(w.cluster.ready)*w.settings.stepSeconds-f.served, 0))
	}
	return f
}

// rest plays so many steps at once if they change nothing: no pod starts, nothing waits or is late, and each sync repeats the one
// before. It reports whether they do.
func (w *Workload) rest(value float64, demand arrival, steps int) bool {
	c, k := &w.cluster, w.settings
	if c.starting.total > 0 || c.waiting > 0 || c.nodes != nil || c.ready == 0 || w.queue.backlog > 0 ||
		demand.seconds > float64(c.ready)*k.stepSeconds || len(w.deferred.waiting) > 0 ||
		k.syncSteps != 1 || k.interruptions > 0 {
		return false
	}
	o := w.observed()
	milli, ok := w.milli(value)
	if !ok || !w.controller.Repeats(w.instant(w.step+steps-1), &o, milli) {
		return false
	}
	w.step += steps
	return true
}

// movePods is the part of a step before the demand arrives.
func (w *Workload) movePods(value float64) {
	w.cluster.advance(w.settings, w.step)
	if w.settings.syncSteps == 1 || w.step%w.settings.syncSteps == 0 {
		w.cluster.scale(w.settings, w.step, w.sync(value))
	}
	w.step++
}

// hours converts replica-seconds to replica-hours.
func hours(seconds float64) float64 { return seconds / time.Hour.Seconds() }

// errNoValue is the error of an adapter without a value.
var errNoValue = errors.New("no value is served")

// deadBand is the one that values get past: that of the HPA with the replicas that are requested now.
func (w *Workload) deadBand() hpa.DeadBand {
	if !w.settings.passDeadBand {
		return hpa.DeadBand{}
	}
	if replicas := int32(w.cluster.replicas()); replicas != w.bandOf { //nolint:gosec // At most the HPA's maximum.
		w.band, w.bandOf = w.settings.hpa.DeadBand(replicas), replicas
	}
	return w.band
}

// observed is what the HPA sees of the pods.
func (w *Workload) observed() hpa.Observed {
	replicas, ready := int32(w.cluster.replicas()), int32(w.cluster.ready) //nolint:gosec // At most the HPA's maximum.
	return hpa.Observed{Replicas: replicas, Existing: replicas, Pods: replicas, Ready: ready}
}

// milli is a value past the dead band in thousandths, rounded up as the adapter rounds it; ok is false of one that no adapter serves.
func (w *Workload) milli(value float64) (milli int64, ok bool) {
	return hpa.Milli(w.deadBand().Pass(value))
}

// sync is one pass of the controller.
func (w *Workload) sync(value float64) int {
	o := w.observed()
	if milli, ok := w.milli(value); ok {
		return int(w.controller.SyncValue(w.instant(w.step), &o, milli))
	}
	o.Readings = []hpa.Reading{{Err: errNoValue}}
	return int(w.controller.Sync(w.at(w.step), o).Replicas)
}

// instant is the start of a step, see at.
func (w *Workload) instant(step int) hpa.Instant {
	return w.settings.began.Add(time.Duration(step) * w.settings.step)
}

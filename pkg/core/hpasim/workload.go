package hpasim

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Workload is what is scaled: an HPA, its pods and the queue before them. It is played step by step.
type Workload struct {
	kind       *kind
	controller hpa.Controller
	cluster    cluster
	queue      queue
	step       int
	// read is the value of the newest sync, of so many replicas.
	read  float64
	asked int32
}

// Moment is one step of a workload.
type Moment struct {
	At time.Time
	// Value that the HPA read last, in the unit of the demand.
	Value float64
	// Replicas that were asked for and those that were ready; Held are the places paid for, of which Idle are those that a
	// warm pool holds and no replica has taken.
	Replicas, Ready, Held, Idle int
	// Started and Stopped are the replicas by which the HPA changed what is asked for. Queued of those that were started
	// found no place, and Waiting replicas have none yet: they wait for a node.
	Started, Stopped, Queued, Waiting int
	// Arrived, Late, Served and Unserved are what became of the demand, and Backlog what waits at the end, in replica-hours.
	Arrived, Late, Served, Unserved, Backlog float64
}

// New starts with as many ready replicas as serve the demand given, within the bounds of the HPA. It is played in steps
// of a length, from a time on. It returns what Spec.Validate finds.
func New(spec Spec, start time.Time, step time.Duration, demand float64) (*Workload, error) {
	if err := spec.Validate(step); err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	spec = spec.WithDefaults()
	controller, err := hpa.New(spec.HPA)
	if err != nil {
		return nil, err
	}
	k := newKind(&spec, start, step)
	return &Workload{kind: k, controller: *controller, cluster: newCluster(k, k.first(demand))}, nil
}

// another is one more of its kind, which begins without a replica.
func (w *Workload) another() Workload {
	return Workload{kind: w.kind, controller: w.controller.Restarted(), cluster: newCluster(w.kind, 0)}
}

// Step plays the next step: pods that are due become ready, the HPA reads the value if it is its time, and the demand
// arrives. NaN for a demand is none; any value that an adapter would not serve is a failed reading.
func (w *Workload) Step(value, demand float64) Moment {
	m := Moment{At: w.at(w.step), Value: value}
	before, queued := w.cluster.replicas(), w.cluster.queued
	f := w.play(value, demand)
	change := w.cluster.replicas() - before
	m.Started, m.Stopped = max(change, 0), max(-change, 0)
	m.Arrived, m.Late = hours(f.arrived), hours(f.late)
	m.Served, m.Unserved, m.Backlog = hours(f.served), hours(f.unserved), hours(w.queue.backlog)
	m.Replicas, m.Ready, m.Held = w.cluster.replicas(), w.cluster.ready, w.cluster.held()
	m.Queued, m.Waiting = w.cluster.queued-queued, w.cluster.waiting
	if w.cluster.nodes != nil && !w.cluster.silent {
		m.Idle = w.cluster.nodes.held
	}
	return m
}

// at is when a step begins.
func (w *Workload) at(step int) time.Time {
	return w.kind.start.Add(time.Duration(step) * w.kind.length)
}

// play is Step for a caller who takes no more than the flow and how the workload then stands.
func (w *Workload) play(value, demand float64) flow {
	w.cluster.advance(w.kind, w.step)
	if w.kind.every == 1 || w.step%w.kind.every == 0 {
		w.cluster.scale(w.kind, w.step, w.sync(value))
	}
	w.step++
	if math.IsNaN(demand) {
		demand = 0
	}
	return w.queue.pass(w.kind, demand/w.kind.capacity, w.cluster.ready)
}

// rests says whether so many steps more would be like the one that has just gone by, if value and demand stay: and if so they
// have gone by, with nothing late.
func (w *Workload) rests(steps int) bool {
	c := &w.cluster
	if !w.kind.repeats || w.kind.every != 1 || int(w.asked) != c.replicas() || w.queue.backlog > 0 ||
		c.starting.total > 0 || c.waiting > 0 || c.nodes != nil || c.ready == 0 {
		return false
	}
	newest := w.step + steps - 1
	if !w.controller.Again(w.at(newest)) {
		return false
	}
	w.step = newest + 1
	return true
}

// hours are replica-hours of replica-seconds.
func hours(seconds float64) float64 { return seconds / time.Hour.Seconds() }

// errUnserved is the answer of an adapter that has no value.
var errUnserved = errors.New("no value is served")

// MostValue is the first value whose thousandths overflow.
const MostValue = math.MaxInt64 / 1000

// sync is one pass of the controller, which reads values in thousandths, rounded up as the adapter does.
func (w *Workload) sync(value float64) int {
	at := w.at(w.step)
	replicas, ready := int32(w.cluster.replicas()), int32(w.cluster.ready) //nolint:gosec // At most the HPA's maximum.
	if w.kind.repeats && value == w.read && replicas == w.asked && w.controller.Again(at) {
		return int(replicas)
	}
	w.read, w.asked = value, replicas
	o := hpa.Observed{Replicas: replicas, Existing: replicas, Pods: replicas, Ready: ready}
	if value >= 0 && value < MostValue {
		return int(w.controller.SyncValue(at, o, int64(math.Ceil(value*1000))))
	}
	o.Readings = []hpa.Reading{{Err: errUnserved}}
	return int(w.controller.Sync(at, o).Replicas)
}

package workload

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/hpa"
)

// Workload is what is scaled: an HPA, its pods and the queue before them. It is played step by step.
type Workload struct {
	start      time.Time
	length     time.Duration // of a step
	capacity   float64
	every      int // steps from one sync to the next
	controller *hpa.Controller
	cluster    cluster
	queue      queue
	step       int
	// read is the value of the newest sync. A sync that repeats needs no look at the metric, where pods are none of it.
	read    float64
	repeats bool
	// reading and observed are kept so that a step allocates nothing.
	reading  [1]hpa.Reading
	milli    [1]int64
	observed hpa.Observed
}

// Moment is one step of a workload.
type Moment struct {
	At time.Time
	// Value that the HPA read last, in the unit of the demand.
	Value float64
	// Replicas that were asked for and those that were ready; Held are the places paid for.
	Replicas, Ready, Held int
	// Started and Stopped are the replicas by which the HPA changed what is asked for.
	Started, Stopped int
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
	w := &Workload{
		start:      start,
		length:     step,
		capacity:   spec.Capacity,
		every:      int(spec.Sync / step),
		controller: controller,
		cluster:    newCluster(&spec, step, first(&spec, demand)),
		queue:      newQueue(&spec, step),
	}
	w.observed.Readings = w.reading[:]
	w.repeats = spec.HPA.Metrics[0].Type == hpa.AverageValue
	return w, nil
}

// first is how many replicas serve a demand, NaN counting as none.
func first(s *Spec, demand float64) int {
	wanted := 0.0
	if demand > 0 {
		wanted = math.Ceil(demand / s.Capacity)
	}
	return int(min(max(wanted, float64(s.HPA.Min)), float64(s.HPA.Max)))
}

// Step plays the next step: pods that are due become ready, the HPA reads the value if it is its time, and the demand
// arrives. NaN for a demand is none; any value that an adapter would not serve is a failed reading.
func (w *Workload) Step(value, demand float64) Moment {
	at := w.start.Add(time.Duration(w.step) * w.length)
	m := Moment{At: at, Value: value}
	w.cluster.advance(w.step)
	if w.step%w.every == 0 {
		before := w.cluster.replicas()
		w.cluster.scale(w.step, w.sync(at, value))
		change := w.cluster.replicas() - before
		m.Started, m.Stopped = max(change, 0), max(-change, 0)
	}
	if math.IsNaN(demand) {
		demand = 0
	}
	f := w.queue.pass(demand/w.capacity, w.cluster.ready)
	m.Arrived, m.Late = hours(f.arrived), hours(f.late)
	m.Served, m.Unserved, m.Backlog = hours(f.served), hours(f.unserved), hours(w.queue.backlog)
	m.Replicas, m.Ready, m.Held = w.cluster.replicas(), w.cluster.ready, w.cluster.held()
	w.step++
	return m
}

// hours are replica-hours of replica-seconds.
func hours(seconds float64) float64 { return seconds / time.Hour.Seconds() }

// errUnserved is the answer of an adapter that has no value.
var errUnserved = errors.New("no value is served")

// MostValue is the first value whose thousandths overflow.
const MostValue = math.MaxInt64 / 1000

// sync is one pass of the controller, which reads values in thousandths, rounded up as the adapter does.
func (w *Workload) sync(at time.Time, value float64) int {
	replicas, ready := int32(w.cluster.replicas()), int32(w.cluster.ready) //nolint:gosec // At most the HPA's maximum.
	if w.repeats && value == w.read && replicas == w.observed.Replicas && w.controller.Again(at) {
		return int(replicas)
	}
	w.read = value
	w.reading[0] = hpa.Reading{Err: errUnserved}
	if value >= 0 && value < MostValue {
		w.milli[0] = int64(math.Ceil(value * 1000))
		w.reading[0] = hpa.Reading{Values: w.milli[:]}
	}
	w.observed.Replicas, w.observed.Existing = replicas, replicas
	w.observed.Pods, w.observed.Ready = replicas, ready
	return int(w.controller.Sync(at, w.observed).Replicas)
}

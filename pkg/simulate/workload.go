package simulate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/hpa"
)

// Workload is what is scaled: an HPA, its pods and the queue before them. It is played step by step; Run does so over a
// whole series. Tuners keep their own beside the real one.
type Workload struct {
	config     Config
	every      int
	controller *hpa.Controller
	cluster    cluster
	queue      queue
	step       int
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

// NewWorkload starts with as many ready replicas as serve the demand given, within the bounds of the HPA. The Config's
// Demand need not hold more than its start and step. It returns what Validate finds.
func NewWorkload(c Config, demand float64) (*Workload, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	c = c.filled()
	every, err := wholeSteps(c.Demand.Step, c.Sync)
	if err != nil {
		return nil, err
	}
	controller, err := hpa.New(c.HPA)
	if err != nil {
		return nil, err
	}
	w := &Workload{
		config:     c,
		every:      every,
		controller: controller,
		cluster:    newCluster(&c, first(&c, demand)),
		queue:      newQueue(&c),
	}
	w.observed.Readings = w.reading[:]
	return w, nil
}

// first is how many replicas serve a demand, NaN counting as none.
func first(c *Config, demand float64) int {
	wanted := 0.0
	if demand > 0 {
		wanted = math.Ceil(demand / c.Capacity)
	}
	return int(min(max(wanted, float64(c.HPA.Min)), float64(c.HPA.Max)))
}

// Step plays the next step: pods that are due become ready, the HPA reads the value if it is its time, and the demand
// arrives. NaN for a demand is none; any value that an adapter would not serve is a failed reading.
func (w *Workload) Step(value, demand float64) Moment {
	at := w.config.Demand.TimeAt(w.step)
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
	f := w.queue.pass(demand/w.config.Capacity, w.cluster.ready)
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

// mostValue is the first value whose thousandths overflow.
const mostValue = math.MaxInt64 / 1000

// sync is one pass of the controller, which reads values in thousandths, rounded up as the adapter does.
func (w *Workload) sync(at time.Time, value float64) int {
	w.reading[0] = hpa.Reading{Err: errUnserved}
	if value >= 0 && value < mostValue {
		w.milli[0] = int64(math.Ceil(value * 1000))
		w.reading[0] = hpa.Reading{Values: w.milli[:]}
	}
	replicas, ready := int32(w.cluster.replicas()), int32(w.cluster.ready) //nolint:gosec // At most the HPA's maximum.
	w.observed.Replicas, w.observed.Existing = replicas, replicas
	w.observed.Pods, w.observed.Ready = replicas, ready
	return int(w.controller.Sync(at, w.observed).Replicas)
}

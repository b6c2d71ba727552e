package sim

import (
	"errors"
	"time"
)

// Fleet is several workloads that serve one demand from one queue, each with an HPA, a capacity and lead times of its own.
type Fleet struct {
	workloads []*Workload
	queue     queue
	// results are those of the workloads in the newest step.
	results []StepResult
}

// NewFleet returns workloads of some Specs, at least one. Each starts with the ready replicas that serve its demand, within the limits of
// its HPA. The errors are those of Spec.Validate.
func NewFleet(specs []Spec, start time.Time, step time.Duration, demands []float64) (*Fleet, error) {
	if len(specs) == 0 {
		return nil, errors.New("a fleet without workloads: want at least one")
	}
	f := &Fleet{results: make([]StepResult, len(specs))}
	for i := range specs {
		w, err := newWorkload(specs[i], start, step, demands[i])
		if err != nil {
			return nil, err
		}
		f.workloads = append(f.workloads, w)
	}
	return f, nil
}

// Step simulates the next step, with the value that each workload's HPA reads. The result is in replicas of the first workload, and the
// demand is late by its wait; those of the workloads, each in its own replicas, are valid until the next call and know no demand.
func (f *Fleet) Step(values []float64, demand float64) (StepResult, []StepResult) {
	first := f.workloads[0].settings
	out, ready := StepResult{At: f.workloads[0].at(f.workloads[0].step)}, 0.0
	for i, w := range f.workloads {
		before := w.count()
		w.movePods(values[i])
		r := w.result(before, values[i])
		f.results[i] = r
		ready += float64(r.Ready) * w.settings.capacity / first.capacity
		out.Replicas, out.Ready, out.Held = out.Replicas+r.Replicas, out.Ready+r.Ready, out.Held+r.Held
		out.Started, out.Stopped, out.Value = out.Started+r.Started, out.Stopped+r.Stopped, out.Value+r.Value
	}
	out.setFlow(f.queue.step(first, first.arrivalOf(demand), ready), f.queue.backlog)
	return out, f.results
}

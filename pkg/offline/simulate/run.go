package simulate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/series"
)

// Run simulates a policy and its workload over the whole demand. Its errors are those of Config.Validate.
func Run(c Config, p Policy) (Report, error) {
	all, err := RunTogether(c, []PolicyRun{{Demand: c.Demand, Deferrable: c.Deferrable, Policy: p, Record: c.Record}})
	if err != nil {
		return Report{}, err
	}
	return all[0], nil
}

// PolicyRun is one of several demands, with its policy and the recorder of its steps.
type PolicyRun struct {
	// Demand is on the grid of the others and as long.
	Demand forecast.Series
	// Deferrable is additional work that may wait until the Spec's Deadline, as long as the demand; empty for none.
	Deferrable forecast.Series
	Policy     Policy
	Record     func(sim.StepResult)
	// Spec is a workload that differs from the Config's, with the same sync; nil for the same.
	Spec *sim.Spec
}

// RunTogether simulates several demands at once, each with a policy and a workload of its own. The workloads share nodes and the places of
// the Config's Pool, and have the Config's Spec where they have none of their own. The last Report counts the free places. The Config's own
// Demand and Record are ignored. Its errors are those of Config.Validate.
func RunTogether(c Config, parts []PolicyRun) ([]Report, error) {
	if len(parts) == 0 {
		return nil, errors.New("simulate: no demand to simulate")
	}
	c.Demand = parts[0].Demand
	for _, p := range parts {
		of := c
		of.Demand = p.Demand
		if p.Spec != nil {
			of.Spec = *p.Spec
		}
		if err := of.Validate(); err != nil {
			return nil, fmt.Errorf("simulate: %w", err)
		}
		if p.Demand.Len() != c.Demand.Len() || p.Demand.Step != c.Demand.Step || !p.Demand.Start.Equal(c.Demand.Start) {
			return nil, errors.New(
				"simulate: the demands are not on the same grid: their start, step and length must be equal",
			)
		}
	}
	r, err := newPlayback(c.withDefaults(), parts)
	if err != nil {
		return nil, err
	}
	for i := range c.Demand.Values {
		r.step(i)
	}
	return r.reports, nil
}

// playback is the state of a run.
type playback struct {
	Config
	parts     []PolicyRun
	workloads []*sim.Workload
	standings []sim.Placement
	observed  []meter
	values    []float64
	reports   []Report
	// warm is the number of steps that are not counted, and refresh is the number of steps from one value to the next.
	warm, refresh int
}

func newPlayback(c Config, parts []PolicyRun) (*playback, error) {
	first, specs := make([]float64, len(parts)), make([]sim.Spec, len(parts))
	for i, p := range parts {
		specs[i] = c.Spec
		if p.Spec != nil {
			specs[i] = *p.Spec
		}
		specs[i].Seed += uint64(i)
		first[i] = math.NaN()
		if p.Demand.Len() > 0 {
			first[i] = p.Demand.Values[0]
		}
	}
	workloads, err := sim.NewShared(specs, c.Demand.Start, c.Demand.Step, first)
	if err != nil {
		return nil, err
	}
	r := &playback{
		Config: c, parts: parts, workloads: workloads, reports: make([]Report, len(parts)),
		standings: make([]sim.Placement, len(parts)), values: make([]float64, len(parts)),
		warm:    int((c.WarmUp + c.Demand.Step - 1) / c.Demand.Step),
		refresh: int(c.Refresh / c.Demand.Step),
	}
	for range parts {
		r.observed = append(r.observed, newMeter(c.Demand.Step, r.refresh))
	}
	return r, nil
}

func (r *playback) step(i int) {
	if i%r.refresh == 0 {
		r.updateValues(i)
	}
	for j := range r.parts {
		p := &r.parts[j]
		demand := p.Demand.Values[i]
		r.observed[j].add(demand)
		if p.Deferrable.Len() > 0 {
			r.workloads[j].Defer(p.Deferrable.Values[i])
		}
		m := r.workloads[j].Step(r.values[j], demand)
		if p.Record != nil {
			p.Record(m)
		}
		if i < r.warm {
			r.reports[j].Carried, r.reports[j].Backlog = m.Backlog, m.Backlog
		} else {
			r.reports[j].count(&m, r.Demand.TimeAt(i+1), r.Demand.Step, !math.IsNaN(demand))
		}
	}
}

// updateValues gets new values from the pool and the policies.
func (r *playback) updateValues(i int) {
	at := r.Demand.TimeAt(i)
	if r.Pool != nil {
		for j, w := range r.workloads {
			r.standings[j] = w.Placement()
		}
		r.workloads[0].Hold(r.Pool.Hold(at, r.standings))
	}
	for j := range r.parts {
		r.values[j] = r.parts[j].Policy.Serve(r.observed[j].observation(at))
	}
}

// Fleet is several workloads that serve one demand from one queue.
type Fleet struct {
	Demand forecast.Series
	// Specs are those of the workloads, whose sync is the demand's step. Demand is late by the wait of the first.
	Specs []sim.Spec
	// WarmUp is how many steps are played and not counted.
	WarmUp int
	// Initial is the demand that each workload's first replicas serve.
	Initial []float64
}

// Run plays values, which a function returns for each step: one for each workload, valid until its next call. The first report is of the
// demand, in replicas of the first workload, and its replica-hours are those of all; then comes one for each workload, in its own.
func (f *Fleet) Run(values func(step int) []float64) (Report, []Report, error) {
	played, err := sim.NewFleet(f.Specs, f.Demand.Start, f.Demand.Step, f.Initial)
	if err != nil {
		return Report{}, nil, fmt.Errorf("simulate: %w", err)
	}
	var all Report
	each := make([]Report, len(f.Specs))
	for i, demand := range f.Demand.Values {
		m, parts := played.Step(values(i), demand)
		if i < f.WarmUp {
			all.Carried, all.Backlog = m.Backlog, m.Backlog
			continue
		}
		end, known := f.Demand.TimeAt(i+1), !math.IsNaN(demand)
		all.count(&m, end, f.Demand.Step, known)
		for j := range parts {
			each[j].count(&parts[j], end, f.Demand.Step, known)
		}
	}
	return all, each, nil
}

// rateWindow is the window of the observed rate.
const rateWindow = time.Minute

// meter makes observations from the demand's steps.
type meter struct {
	// newest has the steps of the window.
	newest series.Ring[float64]
	// between is the number of steps from one observation to the next.
	between int
}

func newMeter(step time.Duration, between int) meter {
	size := max(int(rateWindow/step), between, 1)
	return meter{newest: series.NewRing[float64](size), between: between}
}

func (m *meter) add(demand float64) { m.newest.Push(demand) }

func (m *meter) observation(at time.Time) Observation {
	return Observation{At: at, Demand: m.mean(m.newest.Cap()), Arrived: m.mean(m.between)}
}

// mean averages the newest steps without gaps; NaN if the newest step is a gap. It adds up all values each time, so that no rounding errors
// of old steps remain.
func (m *meter) mean(steps int) float64 {
	steps = min(steps, m.newest.Len())
	if steps == 0 {
		return math.NaN()
	}
	sum, known, last := 0.0, 0, math.NaN()
	for i := range steps {
		last = m.newest.Ago(steps - 1 - i)
		if !math.IsNaN(last) {
			sum += last
			known++
		}
	}
	if math.IsNaN(last) {
		return last
	}
	return sum / float64(known)
}

package simulate

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

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

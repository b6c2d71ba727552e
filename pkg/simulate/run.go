package simulate

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/pkg/workload"
)

// Run plays the whole demand to a policy and its workload. It returns what Config.Validate finds.
func Run(c Config, p Policy) (Report, error) {
	first := math.NaN()
	if c.Demand.Len() > 0 {
		first = c.Demand.Values[0]
	}
	if err := c.Validate(); err != nil {
		return Report{}, fmt.Errorf("simulate: %w", err)
	}
	c = c.filled()
	w, err := workload.New(c.Spec, c.Demand.Start, c.Demand.Step, first)
	if err != nil {
		return Report{}, err
	}
	warm := int((c.WarmUp + c.Demand.Step - 1) / c.Demand.Step)
	refresh := int(c.Refresh / c.Demand.Step)
	observed := newMeter(c.Demand.Step, refresh)
	value := math.NaN()
	var report Report
	for i, demand := range c.Demand.Values {
		if i%refresh == 0 {
			if c.Pool != nil {
				w.Hold(c.Pool.Hold(c.Demand.TimeAt(i), w.Standing()))
			}
			value = p.Serve(observed.observation(c.Demand.TimeAt(i)))
		}
		observed.add(demand)
		m := w.Step(value, demand)
		if c.Record != nil {
			c.Record(m)
		}
		if i < warm {
			report.Carried, report.Backlog = m.Backlog, m.Backlog
		} else {
			report.count(&m, c.Demand.Step)
		}
	}
	return report, nil
}

package warmpools

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

var _ prometheus.Collector = (*Controller)(nil)

// gauge is a pool in numbers; those that a step could not find out are left out.
type gauge struct {
	namespace, name string
	budget          float64
	planned         bool
	// values are in the order of descriptions.
	values [6]float64
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_warm_pool_"+name, help, []string{"namespace", "pool"}, nil)
}

//nolint:gochecknoglobals // Constants.
var descriptions = [...]*prometheus.Desc{
	desc("wanted_chunks", "Chunks that the members' forecasts ask for, within the pool's bounds."),
	desc("held_chunks", "Chunks requested from the actuator; 0 in mode Recommend."),
	desc("ready_chunks", "Held chunks whose capacity is there."),
	desc("borrowed_chunks", "Chunks that members' pods have taken and that are not replaced yet."),
	desc("idle_gpu_seconds", "GPU-seconds that the pool's chunks have stood idle today (UTC)."),
	desc(
		"falling_back",
		"1 while the fallback is held, because forecasts are unreliable or the budget is spent, else 0.",
	),
}

//nolint:gochecknoglobals // A constant.
var budget = desc("budget_gpu_seconds", "GPU-seconds that may stand idle in a day (UTC).")

// hour is a GPU-hour in GPU-seconds.
const hour = 3600

// gaugeOf is a pool in numbers; the plan is nil where there was none.
func gaugeOf(v *visit, plan *warmpool.Plan) gauge {
	g := gauge{namespace: v.Namespace, name: v.Name, budget: v.Resolved.Pool.Budget * hour}
	if plan == nil {
		return g
	}
	g.planned = true
	for i, n := range []int{plan.Want, v.capacity().Held, v.capacity().Ready, plan.Borrowed} {
		g.values[i] = float64(n)
	}
	g.values[4] = plan.Idle * hour
	if plan.State == warmpool.FallingBack || plan.State == warmpool.OverBudget {
		g.values[5] = 1
	}
	return g
}

// Describe implements prometheus.Collector.
func (*Controller) Describe(out chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		out <- d
	}
	out <- budget
}

// Collect sends the gauges of every pool at the newest step; none from a replica that does not lead, so that a sum over
// replicas counts each once.
func (c *Controller) Collect(out chan<- prometheus.Metric) {
	all := c.gauges.Load()
	if all == nil {
		return
	}
	for _, g := range *all {
		if g.budget > 0 {
			out <- prometheus.MustNewConstMetric(budget, prometheus.GaugeValue, g.budget, g.namespace, g.name)
		}
		for i, d := range descriptions {
			if g.planned {
				out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, g.values[i], g.namespace, g.name)
			}
		}
	}
}

package pools

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

var _ prometheus.Collector = (*Controller)(nil)

// poolMetrics are the metrics of a pool; unknown ones are left out.
type poolMetrics struct {
	namespace, name string
	budget          float64
	planned         bool
	// values in the order of descriptions.
	values [6]float64
}

func newDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("forewarm_warm_pool_"+name, help, []string{"namespace", "pool"}, nil)
}

//nolint:gochecknoglobals // Constants.
var descriptions = [...]*prometheus.Desc{
	newDesc("wanted_chunks", "Chunks that the members' forecasts ask for, within the pool's bounds."),
	newDesc("held_chunks", "Chunks requested from the actuator; 0 in mode Recommend."),
	newDesc("ready_chunks", "Held chunks whose capacity is there."),
	newDesc("borrowed_chunks", "Chunks that members' pods have taken and that are not replaced yet."),
	newDesc("idle_gpu_seconds", "GPU-seconds that the pool's chunks have stood idle today (UTC)."),
	newDesc("falling_back",
		"1 while the fallback is held, because forecasts are unreliable or the budget is spent, else 0."),
}

//nolint:gochecknoglobals // A constant.
var budgetDesc = newDesc("budget_gpu_seconds", "GPU-seconds that may stand idle in a day (UTC).")

// secondsPerHour converts GPU-hours to GPU-seconds.
const secondsPerHour = 3600

// metricsOf returns the metrics of a pool; the plan is nil where there was none.
func metricsOf(v *poolStep, plan *warmpool.Plan) poolMetrics {
	g := poolMetrics{namespace: v.Namespace, name: v.Name, budget: v.Resolved.Pool.Budget * secondsPerHour}
	if plan == nil {
		return g
	}
	g.planned = true
	for i, n := range []int{plan.Want, v.capacity().Held, v.capacity().Ready, plan.Borrowed} {
		g.values[i] = float64(n)
	}
	g.values[4] = plan.Idle * secondsPerHour
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
	out <- budgetDesc
}

// Collect sends the metrics of every pool at the newest step. Only the leader sends any, so that a sum over replicas
// counts each pool once.
func (c *Controller) Collect(out chan<- prometheus.Metric) {
	all := c.metrics.Load()
	if all == nil {
		return
	}
	for _, g := range *all {
		if g.budget > 0 {
			out <- prometheus.MustNewConstMetric(budgetDesc, prometheus.GaugeValue, g.budget, g.namespace, g.name)
		}
		for i, d := range descriptions {
			if g.planned {
				out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, g.values[i], g.namespace, g.name)
			}
		}
	}
}

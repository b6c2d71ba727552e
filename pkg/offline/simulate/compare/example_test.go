package compare_test

import (
	"context"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// Six hours by the minute, in which the demand of ten replicas doubles every other hour: an HPA without headroom sees each
// rise when it has come, and its replicas are five minutes late.
func ExampleCompare() {
	demand := forecast.Series{Start: time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC), Step: time.Minute}
	for i := range 360 {
		demand.Values = append(demand.Values, float64(1000*(1+i/60%2)))
	}
	c, err := compare.Compare(context.Background(), compare.Config{
		Demand: demand, Lead: compare.LeadTime{Median: 5 * time.Minute}, Objective: 0.01,
		HPA: hpa.Spec{
			Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Name: "tokens", Source: hpa.External, Type: hpa.AverageValue, Target: 100_000}},
		},
		Only: []string{compare.HPA, compare.BestTarget, compare.Oracle},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range c.Policies {
		fmt.Printf("%s: target %g, %.1f replica-hours, %.1f%% late\n",
			p.Name, p.Target, p.Report.ReplicaHours, 100*p.Report.LateShare())
	}
	// Output:
	// hpa: target 100, 87.2 replica-hours, 71.3% late
	// hpa-best-target: target 57.5, 149.2 replica-hours, 0.1% late
	// oracle: target 100, 90.1 replica-hours, 0.0% late
}

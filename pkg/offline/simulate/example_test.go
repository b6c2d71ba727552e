package simulate_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// An hour of 4,000 tokens a second, which doubles for the second half: pods that take five minutes come after the load.
func ExampleRun() {
	demand := forecast.Series{Start: time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC), Step: 15 * time.Second}
	for i := range 240 {
		demand.Values = append(demand.Values, float64(4000*(1+i/120)))
	}
	config := simulate.Config{
		Demand: demand,
		Spec: sim.Spec{
			Capacity: 1000, PodLead: sim.Constant(5 * time.Minute),
			HPA: hpa.Spec{
				Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{Name: "tokens", Source: hpa.External, Type: hpa.AverageValue, Target: 800_000}},
			},
		},
	}
	reactive, err := simulate.Run(config, simulate.NewObserved())
	if err != nil {
		fmt.Println(err)
		return
	}
	known, err := simulate.OracleValues(demand, 375*time.Second, sim.DefaultSync)
	if err != nil {
		fmt.Println(err)
		return
	}
	oracle, err := simulate.Run(config, simulate.NewTape(known))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("reactive: cost %.2f, %.1f %% late\n", reactive.RelativeCost(), 100*reactive.LateShare())
	fmt.Printf("oracle:   cost %.2f, %.1f %% late\n", oracle.RelativeCost(), 100*oracle.LateShare())
	// Output:
	// reactive: cost 1.24, 17.3 % late
	// oracle:   cost 1.33, 0.0 % late
}

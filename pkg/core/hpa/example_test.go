package hpa_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Five minutes of a rise and a fall, as the stock controller follows it: up at once, at most a doubling a sync; down
// when nothing within five minutes asked for more.
func ExampleController_Sync() {
	controller, err := hpa.New(hpa.Spec{
		Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Name: "tokens", Source: hpa.External, Type: hpa.AverageValue, Target: 4000_000}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now, replicas := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), int32(3)
	for _, tokens := range []int64{12_300, 40_000, 40_000, 9_000} {
		out := controller.Sync(now, hpa.Observed{
			Replicas: replicas, Existing: replicas,
			Readings: []hpa.Reading{{Values: []int64{tokens * 1000}}},
		})
		fmt.Printf("%6d tokens: %d -> %d (%s, %s)\n", tokens, replicas, out.Replicas, out.Able, out.Limited)
		now, replicas = now.Add(15*time.Second), out.Replicas
	}
	// Output:
	//  12300 tokens: 3 -> 3 (ReadyForNewScale, DesiredWithinRange)
	//  40000 tokens: 3 -> 6 (ReadyForNewScale, ScaleUpLimit)
	//  40000 tokens: 6 -> 10 (ReadyForNewScale, DesiredWithinRange)
	//   9000 tokens: 10 -> 10 (ScaleDownStabilized, DesiredWithinRange)
}

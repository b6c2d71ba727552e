package demand_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// Twenty replicas of 50 requests/s are not enough: the observed demand stays at 1,000, and is censored once it has
// settled there.
func ExampleClassifier() {
	classifier := demand.NewClassifier(30*time.Second, 20*50)
	for _, load := range []float64{900, 990, 1010, 985, 1000, 1020} {
		sample := classifier.Step(demand.Reading{Demand: load})
		fmt.Println(sample.Value, sample.Cause.Kind())
	}
	sample := classifier.Step(demand.Reading{Demand: 700, Saturated: true})
	fmt.Printf("%v %s: %s\n", sample.Value, sample.Cause.Kind(), sample.Cause)
	// Output:
	// 900 Known
	// 990 Known
	// 1010 Known
	// 985 Known
	// 1000 Censored
	// 1020 Censored
	// 700 Censored: the saturation signal was above 0
}

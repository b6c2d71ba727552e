package modeltest_test

import (
	"fmt"
	"slices"

	"github.com/forewarm/forewarm/forecast/modeltest"
)

// One of the series that models are tested on: what does a model of one's own make of it?
func ExampleHostile() {
	values := modeltest.Hostile()["a spike"]
	fmt.Printf("%d values, the highest %.0g\n", len(values), slices.Max(values))
	// Output: 120 values, the highest 1e+09
}

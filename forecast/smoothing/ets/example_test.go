package ets_test

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/forecast/transform"
	"github.com/forewarm/forewarm/testdata/classic"
)

// The monthly airline passengers grow, and their season with them, so their logarithm is what has an additive season.
func ExampleAuto() {
	passengers, err := classic.Series("AirPassengers")
	if err != nil {
		fmt.Println(err)
		return
	}
	fitted, err := transform.Log{Model: ets.Auto{Period: 12}}.Fit(passengers)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(3)
	upper := next.Quantile(0.95)
	for i, point := range next.Point {
		fmt.Printf("%.0f, below %.0f with 95 %%\n", point, upper[i])
	}
	// Output:
	// 446, below 475 with 95 %
	// 441, below 476 with 95 %
	// 506, below 554 with 95 %
}

package ets_test

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/classic"
)

// The monthly airline passengers grow, and their season with them: errors, and season, multiply.
func ExampleAuto() {
	passengers, err := classic.Series("AirPassengers")
	if err != nil {
		fmt.Println(err)
		return
	}
	chosen, err := ets.Auto{Period: 12}.Estimate(passengers)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n", chosen.Name(), chosen.Reason)
	next := chosen.Forecast(3)
	upper := next.Quantile(0.95)
	for i, point := range next.Point {
		fmt.Printf("%.0f, below %.0f with 95 %%\n", point, upper[i])
	}
	// Output:
	// ETS(M,A,M)[12]: least AICc of 15 models
	// 443, below 470 with 95 %
	// 436, below 470 with 95 %
	// 499, below 544 with 95 %
}

// A model whose every part is given needs no series to learn from: 10 is the level, half of a surprise moves it.
func ExampleModel() {
	half := 0.5
	fitted, err := ets.Model{Alpha: &half, Start: &ets.States{Level: 10}}.Estimate(daily([]float64{12, 13}))
	if err != nil {
		fmt.Println(err)
		return
	}
	// 10 + (12−10)/2 = 11, then 11 + (13−11)/2 = 12.
	fmt.Println(fitted.Name(), fitted.Forecast(2).Point)
	fitted.Update(16)
	fmt.Println(fitted.Forecast(2).Point)
	// Output:
	// ETS(A,N,N) [12 12]
	// [14 14]
}

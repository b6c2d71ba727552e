package decompose_test

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast/decompose"
)

// Days within weeks: each season without the other.
func ExampleMSTL() {
	var values []float64
	for i := range 96 {
		values = append(values, 50+[]float64{-5, 0, 10, -5}[i%4]+[]float64{0, 0, 0, 0, 0, 0, 0, 0, 8, 8, -8, -8}[i%12])
	}
	parts, err := decompose.MSTL{Periods: []int{4, 12}}.Decompose(values)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, season := range parts.Seasons {
		fmt.Printf("every %d steps: strength %.2f\n", season.Period, parts.SeasonalStrength(i))
	}
	// Output:
	// every 4 steps: strength 1.00
	// every 12 steps: strength 1.00
}

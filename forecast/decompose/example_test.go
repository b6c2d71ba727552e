package decompose_test

import (
	"fmt"
	"math"

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

// A line knows nothing of the season in a gap; the decomposition does.
func ExampleInterpolate() {
	var values []float64
	for i := range 40 {
		values = append(values, []float64{10, 20, 40, 10}[i%4])
	}
	values[21], values[22] = math.NaN(), math.NaN()
	for _, periods := range [][]int{nil, {4}} {
		filled, err := decompose.Interpolate(values, periods...)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.0f\n", filled[20:24])
	}
	// Output:
	// [10 10 10 10]
	// [10 20 40 10]
}

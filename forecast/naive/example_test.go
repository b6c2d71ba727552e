package naive_test

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/naive"
)

// Two days of four steps each, the second one busier: what comes is what was last, or what was a day ago.
func Example() {
	demand := daily(10, 20, 40, 10, 12, 22, 44, 12)
	for _, model := range []forecast.Model{naive.Last{}, naive.Seasonal{Period: 4}} {
		fitted, err := model.Fit(demand)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(model.Name(), fitted.Forecast(4).Point)
	}
	// Output:
	// Last value [12 12 12 12]
	// Seasonal naive(m=4) [12 22 44 12]
}

// The scale of the M4 competition: a quarter of each day is the busiest, and the level grows by itself.
func ExampleDeseasonalised() {
	var values []float64
	for i := range 40 {
		values = append(values, (100+float64(i))*[]float64{0.8, 1, 1.4, 0.8}[i%4])
	}
	fitted, err := naive.Deseasonalised{Period: 4}.Fit(daily(values...))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f\n", fitted.Forecast(4).Point)
	// Output: [111 139 194 111]
}

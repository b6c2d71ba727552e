package arima_test

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
)

// A process of which half of every deviation from 100 survives a step.
func ExampleARIMA() {
	s := forecast.Series{
		Start:  time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Step:   time.Minute,
		Values: []float64{100, 104, 102, 97, 98, 103, 99, 100, 106, 108},
	}
	model := arima.ARIMA{P: 1, Constant: true, Fixed: &arima.Coefficients{AR: []float64{0.5}, Constant: 100}}
	fitted, err := model.Fit(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Name())
	fmt.Println(fitted.Forecast(3).Point)
	fitted.Update(96)
	fmt.Println(fitted.Forecast(3).Point)
	// Output:
	// ARIMA(1,0,0) with non-zero mean
	// [104 102 101]
	// [98 99 99.5]
}

// Auto finds out that a line needs one difference and a drift, and nothing else.
func ExampleAuto() {
	values := make([]float64, 50)
	for i := range values {
		values[i] = 10 + 2*float64(i)
	}
	fitted, err := arima.Auto{}.Estimate(forecast.Series{Step: time.Minute, Values: values})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Order())
	fmt.Println(fitted.Forecast(3).Point)
	// Output:
	// ARIMA(0,1,0) with drift
	// [110 112 114]
}

package forecast_test

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

// Four weeks of hours, with a quiet night and a busy noon: what is the demand at noon tomorrow, and how much is enough with
// a probability of 95 %?
func Example() {
	series := forecast.Series{Start: time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour}
	for i := range 4 * 7 * 24 {
		wave := 60 * math.Sin(2*math.Pi*float64(i-6)/24)
		series.Values = append(series.Values, max(0, 40+wave+float64(i*i%31)))
	}
	for _, model := range []forecast.Model{
		ensemble.Auto{Seasons: []int{24, 168}, Horizon: 24},
		forecast.NonNegative{Model: smoothing.HoltWinters{Period: 24, Trend: smoothing.DampedTrend}},
	} {
		fitted, err := model.Fit(series)
		if err != nil {
			fmt.Println(err)
			return
		}
		next := fitted.Forecast(24)
		fmt.Printf("%s: %.0f at noon, at most %.0f\n", model.Name(), next.Point[12], next.Quantile(0.95)[12])
		fitted.Update(3) // the observation of the next hour; math.NaN() if it is missing
	}
	// Output:
	// Auto(24, 168): 105 at noon, at most 127
	// Holt-Winters(m=24, damped): 111 at noon, at most 124
}

package ensemble_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
)

// Three weeks of hours with a daily cycle: what comes, what it will not pass, and by which models.
func Example() {
	values := make([]float64, 21*24)
	noise := rand.New(rand.NewPCG(1, 1))
	for i := range values {
		values[i] = 100 + 40*math.Sin(2*math.Pi*float64(i)/24) + 5*noise.NormFloat64()
	}
	series := forecast.Series{Start: time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour, Values: values}
	fitted, err := ensemble.Auto{Seasons: []int{24, 168}, Horizon: 6}.Estimate(series)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(6)
	upper := next.Quantile(0.95)
	for i, point := range next.Point {
		fmt.Printf("%s %.0f, at most %.0f\n", next.TimeAt(i).Format("15:04"), point, upper[i])
	}
	// Output:
	// 00:00 102, at most 113
	// 01:00 111, at most 122
	// 02:00 121, at most 133
	// 03:00 129, at most 140
	// 04:00 134, at most 145
	// 05:00 137, at most 148
}

// A young series has its reasons, too: nothing is known yet, and the last value stands in.
func ExampleFitted_Reasons() {
	series := forecast.Series{Step: time.Minute, Values: []float64{12, 15, 11}}
	fitted, err := ensemble.Auto{Horizon: 1}.Estimate(series)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range fitted.Reasons().Candidates[:3] {
		fmt.Printf("%s: weight %.0f, %v\n", c.Name, c.Weight[0], c.Err)
	}
	// Output:
	// Last value: weight 1, <nil>
	// SES(α=0.1): weight 0, <nil>
	// SES(α=0.4): weight 0, <nil>
}

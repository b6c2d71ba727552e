package autoregress_test

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/autoregress"
)

// A day of 24 steps that is a tenth busier every day: the regression finds by how much the newest steps and those of a day
// ago tell what comes.
func Example() {
	s := forecast.Series{Start: time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC), Step: time.Hour}
	for i := range 10 * 24 {
		day := math.Pow(1.1, float64(i/24))
		s.Values = append(s.Values, math.Round(day*(100+40*math.Sin(2*math.Pi*float64(i)/24))))
	}
	fitted, err := autoregress.Ridge{Lags: autoregress.SeasonalLags(24)}.Fit(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	next := fitted.Forecast(24)
	for _, step := range []int{5, 17} {
		fmt.Printf("%s %.0f, a day ago %.0f\n",
			next.TimeAt(step).Format("15:04"), next.Point[step], s.Values[len(s.Values)-24+step])
	}
	// Output:
	// 05:00 360, a day ago 327
	// 17:00 159, a day ago 145
}

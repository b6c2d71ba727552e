package smoothing_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

func minutes(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Step: time.Minute, Values: values}
}

// Half of every surprise moves the level: 10, then 10 + (14−10)/2 = 12, then 12 + (16−12)/2 = 14.
func ExampleSES() {
	fitted, err := smoothing.SES{Alpha: new(0.5)}.Fit(minutes(10, 14, 16))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(fitted.Forecast(2).Point)
	fitted.Update(18)
	fmt.Println(fitted.Forecast(2).Point)
	// Output:
	// [14 14]
	// [16 16]
}

// A line goes on; damped by a half, it gains 1 + 1/2 + 1/4 of its slope of 4.
func ExampleHolt() {
	line := minutes(1, 5, 9, 13)
	plain, err := smoothing.Holt{}.Fit(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plain.Forecast(3).Point)
	damped, err := smoothing.Holt{Damped: true, Alpha: new(1.0), Beta: new(1.0), Phi: new(0.5)}.Fit(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(damped.Forecast(3).Point)
	// Output:
	// [17 21 25]
	// [15 16 16.5]
}

// Four steps that repeat go on repeating; a gap does not stop them.
func ExampleHoltWinters() {
	model := smoothing.HoltWinters{Period: 4, Trend: smoothing.NoTrend}
	fitted, err := model.Fit(minutes(10, 20, 30, 20, 10, 20, 30, 20, 10, 20, 30, 20))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Name())
	fmt.Println(fitted.Forecast(4).Point)
	fitted.Update(10)
	fmt.Println(fitted.Forecast(4).Point)
	// Output:
	// Holt-Winters(m=4, no trend)
	// [10 20 30 20]
	// [20 30 20 10]
}

// A day of two steps within a week of three days, the last of them quiet.
func ExampleDoubleSeasonal() {
	week := []float64{10, 20, 10, 20, 4, 14}
	model := smoothing.DoubleSeasonal{Periods: [2]int{2, 6}}
	fitted, err := model.Fit(minutes(slices.Concat(week, week, week)...))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Name())
	fmt.Printf("%.0f\n", fitted.Forecast(8).Point)
	// Output:
	// double-seasonal(m=2,6)
	// [10 20 10 20 4 14 10 20]
}

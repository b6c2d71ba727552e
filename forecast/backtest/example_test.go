package backtest_test

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/testdata/classic"
)

// How well does Holt-Winters foresee the airline's passengers a month and a year ahead, fitted once a year?
func Example() {
	series, err := classic.Series("AirPassengers")
	if err != nil {
		fmt.Println(err)
		return
	}
	options := backtest.Options{
		Horizons: []int{1, 12}, Quantiles: []float64{0.05, 0.95}, First: 60, Refit: 12, Period: 12,
	}
	for _, model := range []forecast.Model{smoothing.HoltWinters{Period: 12}, naive.Seasonal{Period: 12}} {
		result, err := backtest.Run(series, options, model)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range result.Tracks {
			score := result.Score(i)
			fmt.Printf("%-26s h=%-2d  MASE %.2f  90 %% interval holds %.0f %%\n",
				result.Model, score.Horizon, score.MASE, 100*score.Intervals[0].Coverage)
		}
	}
	// Output:
	// Holt-Winters(m=12)         h=1   MASE 0.48  90 % interval holds 78 %
	// Holt-Winters(m=12)         h=12  MASE 0.94  90 % interval holds 78 %
	// Seasonal naive(m=12)       h=1   MASE 1.41  90 % interval holds 77 %
	// Seasonal naive(m=12)       h=12  MASE 1.60  90 % interval holds 64 %
}

package ensemble_test

import (
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/backtest"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/testdata/classic"
)

// On short series, where little can be learnt about its members, the ensemble is about as good as the better of its best
// two, which is not known beforehand. Rolling origin from the middle on, fitted anew every third year.
func TestClassicSeries(t *testing.T) {
	for _, tt := range []struct {
		name    string
		season  int
		ahead   int
		atWorst float64
	}{
		{"AirPassengers", 12, 12, 1},
		{"presidents", 4, 8, 1},
		{"Nile", 0, 12, 1.05},
		{"LakeHuron", 0, 12, 1},
	} {
		s, err := classic.Series(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		options := backtest.Options{First: s.Len() / 2, Refit: 3 * tt.ahead}
		for h := range tt.ahead {
			options.Horizons = append(options.Horizons, h+1)
		}
		auto := ensemble.Auto{Horizon: tt.ahead}
		if tt.season > 0 {
			auto.Seasons = []int{tt.season}
		}
		own := meanError(t, s, options, auto)
		best := min(meanError(t, s, options, ets.Auto{Period: tt.season}),
			meanError(t, s, options, arima.Auto{Period: tt.season}))
		t.Logf("%s: %.4g, %.3f of the better of ETS and ARIMA", tt.name, own, own/best)
		if own > tt.atWorst*best {
			t.Errorf("%s: %.3f of the better of ETS and ARIMA, want at most %v", tt.name, own/best, tt.atWorst)
		}
	}
}

// meanError is the mean absolute error over all horizons.
func meanError(t *testing.T, s forecast.Series, options backtest.Options, model forecast.Model) float64 {
	t.Helper()
	result, err := backtest.Run(s, options, model)
	if err != nil {
		t.Fatal(err)
	}
	return result.Overall().MAE
}

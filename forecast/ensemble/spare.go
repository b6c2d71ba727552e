package ensemble

import (
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/forecast/transform"
)

// Costs of the spare candidates; only that of SARIMA grows with the season.
const (
	costAdjusted      = 3_500
	costSARIMA        = 30_000
	costSARIMAPerSlot = 1_500
)

// shortSeries is the length up to which the replay, a third of the series, has less than enough losses.
const shortSeries = 3 * enough

// spare candidates take part where the budget has room for them. The dear ones are for short series: of these there are
// never losses enough to tell the best member, so it is well to have many that differ. On long ones they were no gain.
func spare(n int, seasons []int) []candidate {
	if len(seasons) == 0 || seasons[0] > longestSearched {
		return nil
	}
	day := seasons[0]
	adjusted := decompose.Seasonal{Periods: seasons, Model: ets.Auto{}}
	out := []candidate{
		{model: adjusted, perStep: costAdjusted},
		{model: transform.Log{Model: adjusted}, perStep: costAdjusted},
	}
	if n > shortSeries {
		return out
	}
	sarima, costly := arima.Auto{Period: day}, float64(costSARIMA+costSARIMAPerSlot*day)
	return append(out,
		candidate{model: withoutGaps{sarima}, perStep: costly},
		candidate{model: withoutGaps{transform.Log{Model: sarima}}, perStep: costly},
	)
}

// spend takes what the budget still has room for, where the series is short or where dearer models had to be dropped.
func (m Auto) spend(n int, total float64, seasons []int, taken, dropped []candidate) (all, left []candidate) {
	if n > shortSeries && len(dropped) == 0 {
		return taken, dropped
	}
	for _, c := range m.wanted(spare(n, seasons)) {
		if with := total + 2*c.cost(n); time.Duration(with) <= m.Budget {
			total = with
			taken = append(taken, c)
		} else {
			dropped = append(dropped, c)
		}
	}
	return taken, dropped
}

// winters is a Holt-Winters that aims at the steps ahead.
func winters(day, horizon int) smoothing.HoltWinters {
	return smoothing.HoltWinters{
		Period: day, Trend: smoothing.DampedTrend, Criterion: smoothing.Criterion{Horizon: min(horizon, 24)},
	}
}

// nested reports whether the second season is made of whole first ones, as a week is of days.
func nested(seasons []int) bool { return len(seasons) > 1 && seasons[1]%seasons[0] == 0 }

// double is a model of two seasons, one within the other.
func double(seasons []int) smoothing.DoubleSeasonal {
	return smoothing.DoubleSeasonal{Periods: [2]int(seasons[:2]), Damped: true}
}

// withoutGaps is a model that is fitted only where hardly a step is missing. The exact likelihood of a SARIMA takes
// each missing value for an unknown of its own: on 120 steps a third of which are missing its search takes half a
// second.
type withoutGaps struct{ forecast.Model }

// fewGaps is one in how many steps may be missing.
const fewGaps = 20

var errGaps = errors.New("too many gaps for its price")

func (m withoutGaps) Fit(s forecast.Series) (forecast.Fitted, error) {
	if missing := s.Len() - s.Observed(); missing*fewGaps > s.Len() {
		return nil, fmt.Errorf("%s: %d of %d steps are missing: %w", m.Name(), missing, s.Len(), errGaps)
	}
	return m.Model.Fit(s)
}

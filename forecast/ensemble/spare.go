package ensemble

import (
	"errors"
	"fmt"
	"iter"
	"math"
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

// seedWeight is for how many observed losses the mean loss over the whole of a replay counts at its beginning, at most.
const seedWeight = 48

// replay takes values as if they came one at a time, each forecast before it is seen, and yields at every origin, the
// first before any value has come. The members' forecasts do not depend on each other, so they are made first; how well
// each did over the whole replay then seeds its losses. Without that the weights would know nothing before the first
// forecasts fall due, and the errors of that ignorance would widen the quantiles.
func (c *Combination) replay(values []float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		scripts := c.rehearse(values)
		for k, script := range scripts {
			c.seed(k, script, values)
		}
		c.weigh()
		for origin := range len(values) + 1 {
			if origin > 0 {
				c.observe(values[origin-1])
				c.resolve()
			}
			c.recite(scripts, origin)
			c.file()
			if !yield(origin) {
				return
			}
		}
	}
}

// replay calibrates on values that are replayed.
func (f *Fitted) replay(values []float64) {
	for origin := range f.points.replay(values) {
		if origin > 0 {
			f.take()
			f.resolve()
		}
		f.aim()
		f.file()
	}
}

// rehearse gives each member's script.
func (c *Combination) rehearse(values []float64) [][]float64 {
	scripts := make([][]float64, len(c.members))
	for k, m := range c.members {
		if m.median {
			scripts[k] = make([]float64, len(scripts[0]))
			medians(scripts[k], scripts[:k])
		} else {
			scripts[k] = m.rehearse(values)
		}
	}
	return scripts
}

// rehearse forecasts from every origin of the replay in turn and gives the paths, one after the other.
func (m *member) rehearse(values []float64) []float64 {
	script := make([]float64, 0, (len(values)+1)*len(m.path))
	m.updatePath()
	script = append(script, m.path...)
	for _, y := range values {
		m.advance(y)
		m.updatePath()
		script = append(script, m.path...)
	}
	return script
}

// seed gives member k the mean of its losses over the whole replay to begin with.
func (c *Combination) seed(k int, script, values []float64) {
	for j, h := range c.anchors {
		sum, n := 0.0, 0.0
		for origin := 0; origin+h <= len(values); origin++ {
			if e := math.Abs(values[origin+h-1] - script[origin*c.horizon+h-1]); !math.IsNaN(e) {
				n++
				sum += (e - sum) / n
			}
		}
		if n > 0 {
			weight := min(seedWeight, n)
			c.losses[j][k] = record{sum: weight * sum, weight: weight}
		}
	}
}

// recite lets the members look from an origin of the replay.
func (c *Combination) recite(scripts [][]float64, origin int) {
	for k, m := range c.members {
		copy(m.path, scripts[k][origin*c.horizon:])
	}
	c.updatePath()
}

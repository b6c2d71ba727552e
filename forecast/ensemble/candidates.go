package ensemble

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/direct"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
	"github.com/forewarm/forewarm/forecast/smoothing/ets"
	"github.com/forewarm/forewarm/forecast/theta"
	"github.com/forewarm/forewarm/forecast/transform"
)

// candidate is a model that may take part, and what it costs.
type candidate struct {
	model forecast.Model
	// title is the model's name where its own does not tell it from another candidate's.
	title string
	// perStep is the time of a fit for every step of the series, in nanoseconds, as it was measured once. Only arithmetic
	// comes of it, so that all replicas choose the same members.
	perStep float64
	// reach is how many of the newest steps the model is fitted on, 0 for all.
	reach int
}

const (
	costNaive     = 10
	costSmoothing = 30
	costHolt      = 3_000
	costRidge     = 500
	costTheta     = 200
	costSegment   = 120
	costDirect    = 1_500
	costProfile   = 400
	costETS       = 8_000
	costWinters   = 12_000
	costDouble    = 10_000
	costARIMA     = 17_000
	// recentReach settles the few parameters of a model without a season.
	recentReach = 1440
	// directReach is four of the half-lives after which a direct regression forgets.
	directReach = 5760
)

// plan chooses the members among the candidates for n steps of which some are held out. The last value comes first.
func (m Auto) plan(n, held int) (taken, dropped []candidate) {
	var seasons []int
	for _, season := range m.Seasons {
		if n-held >= 2*season {
			seasons = append(seasons, season)
		}
	}
	taken = m.wanted(slices.Concat(
		plain(seasons), seasonal(seasons), searched(seasons, m.Horizon), minutely(seasons, m.Horizon),
	))
	for {
		total, dearest := 0.0, 0
		for i, c := range taken {
			total += 2 * c.cost(n) // Fitted twice: before the replay and after it.
			if c.cost(n) >= taken[dearest].cost(n) {
				dearest = i
			}
		}
		if time.Duration(total) <= m.Budget || len(taken) == 1 {
			return m.spend(n, total, seasons, taken, dropped)
		}
		if dearest == 0 {
			dearest = len(taken) - 1 // All cost the same. The last value stays.
		}
		dropped = append(dropped, taken[dearest])
		taken = slices.Delete(taken, dearest, dearest+1)
	}
}

// longestRegressed is the longest season beside which recursive regressions are given in every form: a day of five minutes.
// On single minutes direct ones do better, and an update must be cheap.
const longestRegressed = 288

// plain candidates know no season.
func plain(seasons []int) []candidate {
	out := []candidate{{model: naive.Last{}, perStep: costNaive}}
	if len(seasons) > 0 {
		return out
	}
	slow, fast := 0.1, 0.4
	return append(out,
		candidate{model: smoothing.SES{Alpha: &slow}, title: "SES(α=0.1)", perStep: costSmoothing},
		candidate{model: smoothing.SES{Alpha: &fast}, title: "SES(α=0.4)", perStep: costSmoothing},
		candidate{model: transform.Log{Model: short()}, perStep: costRidge, reach: recentReach},
	)
}

// seasonal candidates know the seasons that the series holds twice or more.
func seasonal(seasons []int) []candidate {
	if len(seasons) == 0 {
		return nil
	}
	// Two and a half of the longest season: older ones are still heard, but the newest count.
	ridge := autoregress.Ridge{
		Lags: autoregress.SeasonalLags(seasons...), HalfLife: 2.5 * float64(seasons[len(seasons)-1]),
	}
	profile := ridge
	profile.Profile = seasons[0]
	out := []candidate{{model: transform.Log{Model: ridge}, perStep: costRidge}}
	if seasons[0] <= longestRegressed {
		out = append(out,
			candidate{model: profile, perStep: costRidge},
			candidate{model: transform.Log{Model: profile}, perStep: costRidge},
		)
	}
	for _, season := range seasons {
		out = append(out, candidate{model: naive.Seasonal{Period: season}, perStep: costNaive})
	}
	return out
}

// longestSearched is the longest season that a model is given whose parameters are found by search: its states are one
// for each step of the season, and a minute's days would cost too much.
const longestSearched = 64

// searched candidates have parameters that only a search finds, and know a season. They guard the smooth series that months
// and quarters make, where the regressions are alone no match.
func searched(seasons []int, horizon int) []candidate {
	if len(seasons) == 0 || seasons[0] > longestSearched {
		return nil
	}
	day := seasons[0]
	additive := ets.Auto{Period: day}
	out := []candidate{
		{model: additive, perStep: costETS},
		{model: transform.Log{Model: additive}, perStep: costETS},
		{model: winters(day, horizon), perStep: costWinters},
	}
	if nested(seasons) {
		out = append(out, candidate{model: transform.Log{Model: double(seasons)}, perStep: costDouble})
	}
	return out
}

// minutely candidates stand in for those where there is no season, or one of hundreds of steps: regressions for each
// horizon, with the profile of a day and without. On the one-minute traces they take the mean absolute error ten and
// fifteen steps ahead a point of a hundred lower than recursive ones alone.
func minutely(seasons []int, horizon int) []candidate {
	if len(seasons) > 0 && seasons[0] <= longestSearched {
		return nil
	}
	one := direct.Direct{Horizon: horizon}
	out := []candidate{
		{model: transform.Log{Model: arima.Auto{MaxD: 1}}, perStep: costARIMA, reach: recentReach},
		{model: transform.Log{Model: one}, perStep: costDirect, reach: directReach},
	}
	if len(seasons) == 0 || seasons[0] <= longestRegressed {
		out = append(out, candidate{model: smoothing.Holt{Damped: true}, perStep: costHolt, reach: recentReach})
	}
	if len(seasons) == 0 {
		return append(out,
			candidate{model: theta.Theta{}, perStep: costTheta, reach: directReach},
			candidate{model: naive.Segment{Horizon: horizon}, perStep: costSegment, reach: directReach},
			candidate{model: naive.Segment{}, title: "Segment(h=1)", perStep: costSegment, reach: directReach},
		)
	}
	profile := decompose.Profile{Day: seasons[0], Horizon: min(horizon, seasons[0]-1), Model: one}
	recursive := profile
	recursive.Model = short()
	return append(out,
		candidate{model: profile, perStep: costProfile},
		candidate{model: transform.Log{Model: profile}, perStep: costProfile},
		candidate{model: transform.Log{Model: recursive}, perStep: costProfile + costRidge/2},
	)
}

// short is an autoregression on the newest quarter of an hour, where steps are minutes.
func short() autoregress.Ridge {
	return autoregress.Ridge{Lags: []int{1, 2, 3, 4, 5, 6, 8, 10, 15}}
}

func (c candidate) name() string {
	if c.title != "" {
		return c.title
	}
	return c.model.Name()
}

// cost of a fit on n steps, in nanoseconds.
func (c candidate) cost(n int) float64 {
	if c.reach > 0 {
		n = min(n, c.reach)
	}
	return c.perStep * float64(n)
}

// fit fits the model on the newest steps that it reaches.
func (c candidate) fit(s forecast.Series) (forecast.Fitted, error) {
	if c.reach > 0 && s.Len() > c.reach {
		s = s.Slice(s.Len()-c.reach, s.Len())
	}
	return c.model.Fit(s)
}

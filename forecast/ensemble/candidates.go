package ensemble

import (
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
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
	taken = m.wanted(candidates(seasons, m.Horizon))
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

// candidates are those for a series with seasons, each of which it holds twice or more. The last value comes first.
func candidates(seasons []int, horizon int) []candidate {
	out := []candidate{{model: naive.Last{}, perStep: costNaive}}
	switch {
	case len(seasons) == 0:
		return append(out, plain(horizon)...)
	case seasons[0] <= longestSearched:
		return slices.Concat(out, seasonal(seasons), searched(seasons, horizon))
	default:
		return slices.Concat(out, seasonal(seasons), minutely(seasons[0], horizon))
	}
}

// plain candidates know no season.
func plain(horizon int) []candidate {
	slow, fast := 0.1, 0.4
	one := direct.Direct{Horizon: horizon}
	return []candidate{
		{model: smoothing.SES{Alpha: &slow}, title: "SES(α=0.1)", perStep: costSmoothing},
		{model: smoothing.SES{Alpha: &fast}, title: "SES(α=0.4)", perStep: costSmoothing},
		{model: smoothing.Holt{Damped: true}, perStep: costHolt, reach: recentReach},
		{model: short(), perStep: costRidge, reach: recentReach},
		{model: one, perStep: costDirect, reach: directReach},
		{model: transform.Log{Model: one}, perStep: costDirect, reach: directReach},
		{model: theta.Theta{}, perStep: costTheta, reach: directReach},
		{model: naive.Segment{Horizon: horizon}, perStep: costSegment, reach: directReach},
		{model: naive.Segment{}, title: "Segment(h=1)", perStep: costSegment, reach: directReach},
	}
}

// seasonal candidates know the seasons that the series holds twice or more.
func seasonal(seasons []int) []candidate {
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

// minutely candidates are for a day of hundreds of steps: the profile of the day, with direct regressions for each horizon
// and with a recursive one. On a rush that no day had before the logarithms' is a fifth better than all others.
func minutely(day, horizon int) []candidate {
	profile := decompose.Profile{Day: day, Horizon: min(horizon, day-1), Model: direct.Direct{Horizon: horizon}}
	recursive := profile
	recursive.Model = short()
	return []candidate{
		{model: profile, perStep: costProfile},
		{model: transform.Log{Model: profile}, perStep: costProfile},
		{model: transform.Log{Model: recursive}, perStep: costProfile + costRidge/2},
	}
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

// anchors are the horizons that are scored and calibrated up to the last one: those asked for or, where none are, every
// step up to 48 and then a twenty-fourth apart. Steps between two anchors go with the later one.
func anchors(asked []int, horizon int) []int {
	out := slices.Clone(asked)
	if len(out) == 0 {
		for h := 1; h < horizon; h += max(1, h/24) {
			out = append(out, h)
		}
	}
	if len(out) == 0 || out[len(out)-1] < horizon {
		out = append(out, horizon)
	}
	return out
}

// anchorOf gives for each step up to the horizon (from 0) which anchor it goes with.
func anchorOf(anchors []int) []int {
	out := make([]int, anchors[len(anchors)-1])
	at := 0
	for i := range out {
		if i+1 > anchors[at] {
			at++
		}
		out[i] = at
	}
	return out
}

// wanted are the candidates but for those that the options leave out.
func (m Auto) wanted(all []candidate) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool {
		_, last := c.model.(naive.Last)
		return !last && slices.Contains(m.Without, kind(c.model))
	})
}

// kind is the name of a model without its numbers, which come of the seasons and the data.
func kind(of forecast.Model) string {
	switch m := of.(type) {
	case nil:
		return "Median"
	case transform.Log:
		return kind(m.Model) + " of log"
	case withoutGaps:
		return kind(m.Model)
	case decompose.Profile:
		return "Profile + " + kind(m.Model)
	case decompose.Seasonal:
		return "MSTL + " + kind(m.Model)
	case autoregress.Ridge:
		switch {
		case m.HalfLife == 0:
			return "Ridge AR"
		case m.Profile == 0:
			return "seasonal Ridge AR"
		default:
			return "seasonal Ridge AR around a profile"
		}
	default:
		name := m.Name()
		if end := strings.IndexAny(name, "[("); end > 0 {
			name = name[:end]
		}
		return name
	}
}

package ensemble

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/arima"
	"github.com/forewarm/forewarm/forecast/autoregress"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

// candidate is a model that may take part, and what it costs.
type candidate struct {
	model forecast.Model
	// nanoseconds of a fit for every step of the series.
	perStep float64
	// reach is how many of the newest steps the model is fitted on, 0 for all.
	reach int
}

// plan are the candidates that take part.
func (m Auto) plan(n, held int) []candidate {
	var seasons []int
	for _, season := range m.Seasons {
		if n-held >= 2*season+8 {
			seasons = append(seasons, season)
		}
	}
	out := m.affordable(m.masked(slices.Concat(plain(), seasonal(seasons))), n)
	return out
}

// plain candidates know no season.
func plain() []candidate {
	slow, fast := 0.1, 0.4
	return []candidate{
		{model: naive.Last{}, perStep: 10},
		{model: smoothing.SES{Alpha: &slow}, perStep: 20},
		{model: smoothing.SES{Alpha: &fast}, perStep: 20},
		{model: smoothing.Holt{Damped: true}, perStep: 6000, reach: 1440},
		{model: arima.Auto{MaxD: 1}, perStep: 60000, reach: 1440},
		{model: logged{arima.Auto{MaxD: 1}}, perStep: 60000, reach: 1440},
	}
}

// seasonal candidates know the seasons that the series holds twice or more.
func seasonal(seasons []int) []candidate {
	if len(seasons) == 0 {
		lags := []int{1, 2, 3, 4, 5, 6, 8, 10, 15}
		return []candidate{
			{model: autoregress.Ridge{Lags: lags}, perStep: 400},
			{model: logged{autoregress.Ridge{Lags: lags}}, perStep: 400},
		}
	}
	first, last := seasons[0], seasons[len(seasons)-1]
	lags := autoregress.SeasonalLags(seasons...)
	halfLife := 2.5 * float64(last)
	profile := autoregress.Ridge{Lags: lags, Profile: first, HalfLife: halfLife}
	ridge := autoregress.Ridge{Lags: lags, HalfLife: halfLife}
	out := []candidate{
		{model: ridge, perStep: 600},
		{model: logged{ridge}, perStep: 600},
		{model: profile, perStep: 600},
		{model: logged{profile}, perStep: 600},
	}
	for _, season := range seasons {
		out = append(out, candidate{model: naive.Seasonal{Period: season}, perStep: 10})
	}
	return out
}

// affordable leaves out the dearest candidates until the rest keeps the budget.
func (m Auto) affordable(all []candidate, n int) []candidate {
	for {
		total, dearest := 0.0, 0
		for i, c := range all {
			total += 2 * c.cost(n)
			if c.cost(n) >= all[dearest].cost(n) {
				dearest = i
			}
		}
		if time.Duration(total) <= m.Budget || len(all) == 1 {
			return all
		}
		all = slices.Delete(all, dearest, dearest+1)
	}
}

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

var mask = 0

func (m Auto) masked(all []candidate) []candidate {
	var out []candidate
	for i, c := range all {
		if mask>>i&1 == 0 {
			out = append(out, c)
		}
	}
	return out
}

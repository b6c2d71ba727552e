// Package accuracy judges how well Forewarm's models would have forecast a recorded demand, compared with baselines that
// cost nothing.
//
//	history, lead time ──> horizons, the season, the origins of the forecasts (plan.go)
//	                   ──> every model, replayed as in the server (replay.go)
//	                   ──> the scores, for every model on the same values
//
// A model is replayed by package [backtest]: each of its forecasts is made from what was known at that time.
package accuracy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Forewarm is the name of Forewarm's selection among all candidates.
const Forewarm = "forewarm"

// Levels are the levels of the quantiles whose coverage is judged. The pinball loss is that of the 95 % quantile.
func Levels() []float64 { return []float64{0.5, 0.9, 0.95, 0.99} }

// lossLevel is the index of 0.95 in Levels.
const lossLevel = 2

// Config is what is judged.
type Config struct {
	// Series is the history: values of 0 or more, and NaN for gaps.
	Series forecast.Series
	// Lead is the lead time. It is judged as a whole number of steps, rounded up.
	Lead time.Duration
}

// Result is how accurate the forecasts were.
type Result struct {
	// Lead is the lead time as it was judged.
	Lead time.Duration
	// From is the time of the first forecast, To the end of the last window that was judged.
	From, To time.Time
	// Scores are in the order of the horizons, and within a horizon in that of the pinball loss, the lowest first.
	Scores []Score
	// Notes are sentences about what the history does not allow.
	Notes []string
	// Partial is true if the replay was interrupted: the scores are correct, but of a part of the history.
	Partial bool
}

// Score is how well a model forecast at one horizon. Unknown numbers are NaN. All models are scored on the same values: a value
// that one of them did not forecast counts for none.
type Score struct {
	Horizon time.Duration
	// Model is Forewarm or the name of a candidate, Baseline says that it needs no fit.
	Model    string
	Baseline bool
	// Count is the number of window peaks that were judged.
	Count int
	// MAE is the mean absolute error of the forecast of the value at the horizon, in the demand's unit. MASE is the MAE divided by
	// the MAE of repeating the last season (if there is no season, the last value).
	MAE, MASE float64
	// Loss is the pinball loss of the 95 % quantile of the window peak, the highest value until the horizon.
	Loss float64
	// Skill and LossSkill are the shares by which MAE and Loss are lower than MAE and Loss of the last value.
	Skill, LossSkill float64
	// Coverage has, in the order of the Levels, the share of window peaks that did not exceed their forecast quantile.
	Coverage []float64
}

// Run replays the history to every model. It reports progress in units of work of about equal length, with the current task;
// progress may be nil and is never called concurrently. If the context ends, Run returns what was judged until then, or an
// error that wraps the context's if that is nothing. Errors: forecast.ErrParameter for a step that is not from a second to a day
// and for a lead time that is not positive, forecast.ErrTooShort for a history that is too short to judge the lead time or that has
// too many gaps.
func Run(ctx context.Context, c Config, progress func(done, total int, what string)) (*Result, error) {
	p, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	replays := p.replay(ctx, progress)
	r := &Result{Lead: p.span(p.lead), From: p.origin(0), Notes: p.notes, Partial: ctx.Err() != nil}
	for h := range p.horizons {
		r.score(&p, replays, h)
	}
	for _, m := range replays {
		switch {
		case m.err != nil:
			r.Notes = append(r.Notes, fmt.Sprintf("%s is left out: %v.", m.name, m.err))
		case !m.judged:
			r.Notes = append(r.Notes, m.name+" is left out, because it made no forecast.")
		}
	}
	switch {
	case len(r.Scores) > 0:
		return r, nil
	case r.Partial:
		return nil, fmt.Errorf("interrupted before a forecast was judged: %w", ctx.Err())
	}
	at, shortest := p.origin(0).UTC().Format(time.DateTime), humanize.Span(p.span(p.horizons[0]))
	return nil, fmt.Errorf(
		"the known part of the history is %w to judge a forecast: after %s, every window of %s has a gap or too little known "+
			"history before it; use a history with fewer gaps, or coarser steps",
		forecast.ErrTooShort,
		at,
		shortest,
	)
}

// score adds the scores for the horizon with index h.
func (r *Result) score(p *plan, replays []*replay, h int) {
	replays = slices.DeleteFunc(slices.Clone(replays), func(m *replay) bool { return !m.forecasts(h) })
	judged := commonValues(replays, h)
	if len(judged) == 0 {
		return
	}
	horizon := p.span(p.horizons[h])
	var scores []Score
	last := Score{MAE: math.NaN(), Loss: math.NaN()}
	for _, m := range replays {
		m.judged = true
		of := m.Score(h)
		one := Score{
			Horizon: horizon, Model: m.name, Baseline: slices.Contains(baselines(), m.name), Count: len(judged),
			MAE: of.MAE, MASE: of.MASE, Loss: of.Peaks[lossLevel].Pinball,
		}
		for _, q := range of.Peaks {
			one.Coverage = append(one.Coverage, q.Coverage)
		}
		if m.name == windowpeak.LastValue {
			last = one
		}
		scores = append(scores, one)
	}
	for i := range scores {
		scores[i].Skill, scores[i].LossSkill = skill(scores[i].MAE, last.MAE), skill(scores[i].Loss, last.Loss)
	}
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(a.Loss, b.Loss) })
	r.Scores = append(r.Scores, scores...)
	if to := p.origin(judged[len(judged)-1]).Add(horizon); to.After(r.To) {
		r.To = to
	}
}

// commonValues marks a window peak as unknown for all models if one of them did not forecast it. h is the index of the horizon. It returns
// the indices of the remaining window peaks.
func commonValues(replays []*replay, h int) (judged []int) {
	if len(replays) == 0 {
		return nil
	}
	actual, peak := slices.Clone(replays[0].Tracks[h].Actual), slices.Clone(replays[0].Tracks[h].Peak)
	for _, m := range replays {
		track := &m.Tracks[h]
		for i := range actual {
			if math.IsNaN(track.Point[i]) {
				actual[i] = math.NaN()
			}
			if math.IsNaN(track.PeakQuantile[lossLevel][i]) {
				peak[i] = math.NaN()
			}
		}
		track.Actual, track.Peak = actual, peak
	}
	for i, v := range peak {
		if known(v) {
			judged = append(judged, i)
		}
	}
	return judged
}

// skill is how much smaller an error is than another one, as a share of the other; NaN if the other is 0.
func skill(of, other float64) float64 {
	if other == 0 {
		return math.NaN()
	}
	return 1 - of/other
}

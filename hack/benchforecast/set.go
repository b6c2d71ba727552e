package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/ensemble"
)

// set is what is scored together: windows of series with one step, one season and one horizon.
type set struct {
	// kind is "m4" or "windows"; name tells sets of a kind apart.
	kind, name string
	// season scales MASE and MSIS; models are offered seasons.
	season  int
	seasons []int
	horizon int
	windows []window
}

// window is a history and what came after it.
type window struct {
	id     string
	past   forecast.Series
	actual []float64
}

// answer is what a method said of a window.
type answer struct {
	// quantiles has a row for each of levels; point is the model's own, R's the median.
	quantiles [][]float64
	point     []float64
	// cpu is the time of the fit and of the forecast with its quantiles.
	cpu time.Duration
	// kinds are those of an ensemble's candidates.
	kinds []string
}

// levels are the quantiles that every method is asked for: the bounds of the 95 % interval around nine tenths.
func levels() []float64 { return []float64{0.025, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.975} }

// median is its index in levels.
const median = 5

// scoreRow is a method's score on a set.
type scoreRow struct {
	Set        string `json:"set"`
	Name       string `json:"name,omitempty"`
	Model      string `json:"model,omitempty"`
	Series     int    `json:"series"` // Windows, of which each of M4's series has one.
	Horizon    int    `json:"horizon"`
	Season     int    `json:"season"`
	MASE       figure `json:"mase"`
	MASEPoint  figure `json:"mase_point"`
	SMAPE      figure `json:"smape"`
	OWA        figure `json:"owa"`
	WQL        figure `json:"wql"`
	Coverage80 figure `json:"coverage80"`
	Coverage95 figure `json:"coverage95"`
	MSIS95     figure `json:"msis95"`
	CPU        figure `json:"cpu_seconds_per_series"`
	// LeftOut is why there are no figures.
	LeftOut string `json:"left_out,omitempty"`
}

// ask fits a model to each window and forecasts it.
func (s set) ask(model entry, words io.Writer) ([]answer, error) {
	shortest := s.windows[0].past.Len()
	for _, w := range s.windows {
		shortest = min(shortest, w.past.Len())
	}
	made := model.make(task{season: s.season, seasons: s.seasons, horizon: s.horizon, history: shortest})
	answers := make([]answer, len(s.windows))
	for i, w := range s.windows {
		before := cpu()
		fitted, err := made.Fit(w.past)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.id, err)
		}
		next := fitted.Forecast(len(w.actual))
		answers[i].point = next.Point
		for _, p := range levels() {
			answers[i].quantiles = append(answers[i].quantiles, next.Quantile(p))
		}
		answers[i].cpu = cpu() - before
		if of, ok := fitted.(*ensemble.Fitted); ok {
			answers[i].kinds = kinds(of.Reasons())
		}
		progress(words, s.name+" "+model.name, i+1, len(s.windows))
	}
	return answers, nil
}

// row is the score of a method's answers, or why there are none.
func (s set) row(model string, answers []answer, err error) scoreRow {
	if err == nil {
		err = finite(answers)
	}
	out := set{}.score(nil) // No figure has a value.
	if err != nil {
		out.LeftOut = err.Error()
	} else {
		out = s.score(answers)
	}
	out.Set, out.Name, out.Model = s.kind, s.name, rowModel(model)
	out.Series, out.Horizon, out.Season = len(s.windows), s.horizon, s.season
	return out
}

func finite(answers []answer) error {
	for _, a := range answers {
		if slices.ContainsFunc(slices.Concat(a.quantiles...), func(v float64) bool { return math.IsNaN(v - v) }) {
			return errors.New("the forecast is not finite")
		}
	}
	return nil
}

// score takes every step of every window as one: its error over the window's scale for MASE and MSIS, unscaled for the
// others. OWA is filled in later.
func (s set) score(answers []answer) scoreRow {
	var actual, scaled, points []float64
	quantiles, scaledQuantiles := make([][]float64, len(levels())), make([][]float64, len(levels()))
	spent := time.Duration(0)
	for i, w := range s.windows {
		scale := w.scale(s.season)
		actual = append(actual, w.actual...)
		scaled = appendOver(scaled, w.actual, scale)
		points = appendOver(points, answers[i].point, scale)
		for q, values := range answers[i].quantiles {
			quantiles[q] = append(quantiles[q], values...)
			scaledQuantiles[q] = appendOver(scaledQuantiles[q], values, scale)
		}
		spent += answers[i].cpu
	}
	last := len(quantiles) - 1
	return scoreRow{
		MASE:       orNull(accuracy.MAE(scaled, scaledQuantiles[median])),
		MASEPoint:  orNull(accuracy.MAE(scaled, points)),
		MSIS95:     orNull(accuracy.Winkler(scaled, scaledQuantiles[0], scaledQuantiles[last], 2*levels()[0])),
		WQL:        orNull(accuracy.WQL(actual, quantiles[1:last], levels()[1:last])),
		SMAPE:      orNull(accuracy.SMAPE(actual, quantiles[median])),
		Coverage80: orNull(accuracy.Coverage(actual, quantiles[1], quantiles[last-1])),
		Coverage95: orNull(accuracy.Coverage(actual, quantiles[0], quantiles[last])),
		OWA:        figure(math.NaN()),
		CPU:        figure(spent.Seconds() / float64(len(s.windows))),
	}
}

// scale is the mean absolute difference a season apart in the history; a step apart where the history is no longer than
// a season. NaN where nothing differs: such a window takes no part in what is scaled.
func (w window) scale(season int) float64 {
	past := w.past.Values
	if season >= len(past) {
		season = 1
	}
	scale, err := accuracy.MAE(past[season:], past[:len(past)-season])
	if err != nil || scale == 0 {
		return math.NaN()
	}
	return scale
}

func appendOver(to, values []float64, scale float64) []float64 {
	for _, v := range values {
		to = append(to, v/scale)
	}
	return to
}

// orNull is the value, or what is null in JSON where there is none.
func orNull(value float64, err error) figure {
	if err != nil {
		value = math.NaN()
	}
	return figure(value)
}

// owa is that of a row relative to Naive2's on the same set.
func owa(row, naive2 scoreRow) figure {
	return orNull(accuracy.OWA(
		accuracy.Score{MASE: float64(row.MASE), SMAPE: float64(row.SMAPE)},
		accuracy.Score{MASE: float64(naive2.MASE), SMAPE: float64(naive2.SMAPE)},
	))
}

// thinned has at most so many windows, evenly spread; 0 means all.
func (s set) thinned(most int) set {
	if n := len(s.windows); most > 0 && most < n {
		kept := make([]window, most)
		for i := range kept {
			kept[i] = s.windows[i*n/most]
		}
		s.windows = kept
	}
	return s
}

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
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/humanize"
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

// mostWindows and testShare are GIFT-Eval's: the windows are in the last tenth of a series, and no more than 20.
const (
	mostWindows = 20
	testShare   = 0.1
)

// windowSets are the sets of a folder of traces: each file by its own step and by the coarser ones of steps, forecast
// over GIFT-Eval's short horizon and its medium one, of ten times that. leftOut are those with less history than the
// horizon.
func windowSets(all []demandtest.Recorded) (sets []set, leftOut []string) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].File == all[0].File {
			n++
		}
		for _, step := range steps(all[0].Series.Step) {
			for _, times := range []int{1, 10} {
				if s := windowSet(all[:n], step, times*shortHorizon(step)); s.windows != nil {
					sets = append(sets, s)
				} else {
					leftOut = append(leftOut, s.name)
				}
			}
		}
		all = all[n:]
	}
	return sets, leftOut
}

// steps are a trace's own and the coarser ones that it divides.
func steps(own time.Duration) []time.Duration {
	out := []time.Duration{own}
	for _, step := range []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour} {
		if step > own && step%own == 0 {
			out = append(out, step)
		}
	}
	return out
}

func shortHorizon(step time.Duration) int {
	if step < time.Minute {
		return 60
	}
	return 48
}

// windowSet has the windows of a file's columns. All have as many as the shortest, and none overlap.
func windowSet(columns []demandtest.Recorded, step time.Duration, horizon int) set {
	out := set{
		kind: "windows", name: fmt.Sprintf("%s %s h=%d", columns[0].File, humanize.Span(step), horizon),
		season: seasonOf(step), horizon: horizon,
		seasons: []int{int(24 * time.Hour / step), int(7 * 24 * time.Hour / step)},
	}
	coarse, shortest := make([]forecast.Series, len(columns)), math.MaxInt
	for i, c := range columns {
		coarse[i] = means(c.Series, int(step/c.Series.Step))
		shortest = min(shortest, coarse[i].Len())
	}
	n := int(math.Ceil(testShare * float64(shortest) / float64(horizon)))
	n = min(max(1, n), mostWindows)
	if shortest < (n+1)*horizon {
		return out
	}
	for i, s := range coarse {
		for k := n; k > 0; k-- {
			origin := s.Len() - k*horizon
			out.windows = append(out.windows, window{
				id:   fmt.Sprintf("%s at %d", columns[i].Name, origin),
				past: s.Slice(0, origin), actual: s.Values[origin : origin+horizon],
			})
		}
	}
	return out
}

// seasonOf is GluonTS's: an hour of steps below a minute, a day of longer ones; 1 where it is no whole number of them.
func seasonOf(step time.Duration) int {
	cycle := 24 * time.Hour
	if step < time.Minute {
		cycle = time.Hour
	}
	if cycle%step != 0 {
		return 1
	}
	return int(cycle / step)
}

// means are those of so many steps each, of what is known of them; what is left at the end is left off.
func means(s forecast.Series, every int) forecast.Series {
	out := forecast.Series{Start: s.Start, Step: s.Step * time.Duration(every), Values: make([]float64, s.Len()/every)}
	for i := range out.Values {
		sum, known := 0.0, 0.0
		for _, v := range s.Values[i*every : (i+1)*every] {
			if !math.IsNaN(v) {
				sum += v
				known++
			}
		}
		out.Values[i] = sum / known // NaN where none is known.
	}
	return out
}

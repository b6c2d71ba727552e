package pool

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/decide"
	"github.com/forewarm/forewarm/pkg/forecaster"
	"github.com/forewarm/forewarm/pkg/warmpool"
)

// The server's defaults: how often everything is built anew from the history, how long that is, what a day must have been
// seen of before anything is planned by it, and the step.
const (
	refit   = 6 * time.Hour
	history = 14 * 24 * time.Hour
	season  = 24 * time.Hour
	// Step of the forecaster.
	Step = 30 * time.Second
	// point is the grid on which the last day is kept.
	point = 5 * time.Minute
)

// Windows are the distributions of the maximum of a demand over windows ahead, at every Step of it, as forewarm's
// forecaster has them then. They are read stretch by stretch, in any order: what is known in one depends on the demand
// before it alone.
type Windows struct {
	// demand is the mean of every Step.
	demand forecast.Series
	// points are the means of every point of it.
	points []float64
	// steps of the horizons, ascending; own is that of the lead window.
	steps []int
	own   time.Duration
	// first is the start of the first stretch, in steps; each is every steps long.
	first, every int
	// rows have the distributions of each step that has ended, nil where there are none.
	rows [][]decide.Window
}

// NewWindows knows nothing yet. The step of the demand is a whole part of Step and it has no gaps; the horizons are
// calibrated beside those that the server has for a lead window.
func NewWindows(demand forecast.Series, lead time.Duration, horizons ...time.Duration) *Windows {
	w := &Windows{
		demand: coarse(demand, Step),
		points: coarse(demand, point).Values,
		own:    lead,
		every:  int(refit / Step),
	}
	const longest = time.Hour
	for _, h := range append(horizons, Step, lead, 2*lead, max(4*lead, longest)) {
		w.steps = append(w.steps, max(1, stepsIn(h)))
	}
	slices.Sort(w.steps)
	w.steps = slices.Compact(w.steps)
	w.rows = make([][]decide.Window, w.demand.Len())
	// The first multiple of the refit interval at which a season was seen: the server builds anew at these, too.
	seen := w.demand.Start.Add(season)
	anchor := seen.Truncate(refit)
	if anchor.Before(seen) {
		anchor = anchor.Add(refit)
	}
	w.first = stepsIn(anchor.Sub(w.demand.Start))
	return w
}

// coarse has the means of a demand over every step; what is left over at its end is not complete, and left out.
func coarse(s forecast.Series, step time.Duration) forecast.Series {
	n := int(step / s.Step)
	out := forecast.Series{Start: s.Start, Step: step, Values: make([]float64, s.Len()/n)}
	for i := range out.Values {
		for _, v := range s.Values[i*n : (i+1)*n] {
			out.Values[i] += v / float64(n)
		}
	}
	return out
}

func stepsIn(d time.Duration) int { return int((d + Step - 1) / Step) }

// Stretches is how many there are to read.
func (w *Windows) Stretches() int {
	return max(0, (w.demand.Len()-w.first+w.every-1)/w.every)
}

// Read forecasts one stretch, from the history before it and then step by step. Stretches may be read at once.
func (w *Windows) Read(stretch int) error {
	from := w.first + stretch*w.every
	to := min(from+w.every, w.demand.Len())
	model := forecaster.Calibrated{
		Config:   forecaster.Config{Step: Step, Window: w.own, Rate: true},
		Horizons: w.steps,
	}
	fitted, err := model.Fit(w.demand.Slice(max(0, from-stepsIn(history)), from))
	if err != nil {
		return err
	}
	known, ok := fitted.(maxima)
	if !ok {
		return nil
	}
	for i := from; i < to; i++ {
		fitted.Update(w.demand.Values[i])
		w.rows[i] = w.row(known)
	}
	return nil
}

// maxima is a model that knows the distribution of the highest value of some steps to come.
type maxima interface {
	MaxQuantile(h int, p float64) float64
}

// row are the distributions of all horizons that are calibrated.
func (w *Windows) row(of maxima) []decide.Window {
	out := make([]decide.Window, 0, len(w.steps))
	for _, h := range w.steps {
		window := decide.Window{Horizon: time.Duration(h) * Step}
		known := true
		for i, p := range decide.Levels() {
			window.Quantiles[i] = of.MaxQuantile(h, p)
			known = known && !math.IsNaN(window.Quantiles[i])
		}
		if known {
			out = append(out, window)
		}
	}
	return out
}

// outlook is what is known after so much of the demand, said at a time: a member whose history is another day's is planned
// for together with the others.
func (w *Windows) outlook(at time.Time, after time.Duration) warmpool.Outlook {
	i := int(after/Step) - 1
	if i < 0 || i >= len(w.rows) || len(w.rows[i]) == 0 {
		return warmpool.Outlook{Doubt: "still warming up"}
	}
	return warmpool.Outlook{Observed: w.observed(i), Windows: w.rows[i], Recent: w.recent(at, after)}
}

// observed is the mean of the minute that ends with a step.
func (w *Windows) observed(i int) float64 {
	const minute = int(time.Minute / Step)
	from, sum := max(0, i+1-minute), 0.0
	for _, v := range w.demand.Values[from : i+1] {
		sum += v
	}
	return sum / float64(i+1-from)
}

// recent is the demand of the last day in points, as the forecaster keeps it for those who look at it: the newest is the one
// that is complete.
func (w *Windows) recent(at time.Time, after time.Duration) forecast.Series {
	to := min(int(after/point), len(w.points))
	from := max(0, to-int(season/point))
	return forecast.Series{
		Start: at.Truncate(point).Add(-time.Duration(to-from) * point), Step: point, Values: w.points[from:to],
	}
}

package pool

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	// season is what must have been seen before anything is planned by it, as the server has it.
	season = 24 * time.Hour
	// Step of the forecaster.
	Step = 30 * time.Second
	// point is the grid on which the last day is kept.
	point = 5 * time.Minute
)

// Windows are the distributions of the maximum of a demand over windows ahead, at every Step of it, as the server's forecaster
// has them then.
type Windows struct {
	// demand is the mean of every Step.
	demand forecast.Series
	// points are the means of every point of it.
	points []float64
	// rows have the distributions that are known at the end of each step.
	rows [][]windowpeak.Window
}

// NewWindows has what was known at the beginning of the demand and after every Step of it. The step of the demand is a whole
// part of Step and it has no gaps.
func NewWindows(demand forecast.Series, known [][]windowpeak.Window) *Windows {
	return &Windows{
		demand: coarse(demand, Step),
		points: coarse(demand, point).Values,
		rows:   known[min(1, len(known)):],
	}
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

// outlook is what is known after so much of the demand, said at a time: a member whose history is another day's is planned
// for together with the others.
func (w *Windows) outlook(at time.Time, after time.Duration) warmpool.Outlook {
	i := int(after/Step) - 1
	if after < season || i >= len(w.rows) || len(w.rows[i]) == 0 {
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

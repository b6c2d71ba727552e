package compare

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// recentStep is the grid on which the last day is kept.
const recentStep = 5 * time.Minute

// windowPeaks are the distributions of the maximum of a demand over windows ahead, at every Step of it, as the server's forecaster
// has them then.
type windowPeaks struct {
	// demand is the mean of every Step.
	demand forecast.Series
	// points are the means of every point of it.
	points []float64
	// rows have the distributions that are known at the end of each step.
	rows [][]windowpeak.Window
}

// newWindowPeaks has what was known at the beginning of the demand and after every Step of it. The step of the demand is a whole
// part of Step and it has no gaps.
func newWindowPeaks(demand forecast.Series, known [][]windowpeak.Window) *windowPeaks {
	return &windowPeaks{
		demand: meansOver(demand, Step),
		points: meansOver(demand, recentStep).Values,
		rows:   known[min(1, len(known)):],
	}
}

// meansOver has the means of a demand over every step; what is left over at its end is not complete, and left out.
func meansOver(s forecast.Series, step time.Duration) forecast.Series {
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
func (w *windowPeaks) outlook(at time.Time, after time.Duration) warmpool.Outlook {
	i := int(after/Step) - 1
	if after < day || i >= len(w.rows) || len(w.rows[i]) == 0 {
		return warmpool.Outlook{Unreliable: "is still warming up"}
	}
	return warmpool.Outlook{Observed: w.observed(i), Windows: w.rows[i], Recent: w.recent(at, after)}
}

// observed is the mean of the minute that ends with a step.
func (w *windowPeaks) observed(i int) float64 {
	const minute = int(time.Minute / Step)
	from, sum := max(0, i+1-minute), 0.0
	for _, v := range w.demand.Values[from : i+1] {
		sum += v
	}
	return sum / float64(i+1-from)
}

// recent is the demand of the last day in points, as in the forecaster's outlook: the newest point is complete.
func (w *windowPeaks) recent(at time.Time, after time.Duration) forecast.Series {
	to := min(int(after/recentStep), len(w.points))
	from := max(0, to-int(day/recentStep))
	return forecast.Series{
		Start: at.Truncate(recentStep).
			Add(-time.Duration(to-from) * recentStep),
		Step:   recentStep,
		Values: w.points[from:to],
	}
}

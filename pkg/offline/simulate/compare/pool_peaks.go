package compare

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// recentStep is the grid for the demand of the last day.
const recentStep = 5 * time.Minute

// windowPeaks has the distributions of a demand's maximum over the windows ahead, at every Step, as the server's forecaster would have them
// at that time.
type windowPeaks struct {
	// demand is the mean of every Step.
	demand forecast.Series
	// points are the means of every recentStep.
	points []float64
	// rows has the distributions that are known at the end of each step.
	rows [][]windowpeak.Window
}

// newWindowPeaks takes the distributions that were known at the beginning of the demand and after every Step. Step must be a whole number
// of the demand's steps, and the demand must not have gaps.
func newWindowPeaks(demand forecast.Series, known [][]windowpeak.Window) *windowPeaks {
	return &windowPeaks{
		demand: meansOver(demand, Step),
		points: meansOver(demand, recentStep).Values,
		rows:   known[min(1, len(known)):],
	}
}

// meansOver returns the means of a demand over every step. An incomplete step at the end is left out.
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

// outlook returns what is known after a part of the demand, with another time as the present. A member whose history is from a different
// day is planned together with the others.
func (w *windowPeaks) outlook(at time.Time, after time.Duration) warmpool.Outlook {
	i := int(after/Step) - 1
	if after < day || i >= len(w.rows) || len(w.rows[i]) == 0 {
		return warmpool.Outlook{Unreliable: "is still warming up"}
	}
	return warmpool.Outlook{Observed: w.observed(i), Windows: w.rows[i], Recent: w.recent(at, after)}
}

// observed returns the mean of the minute that ends with a step.
func (w *windowPeaks) observed(i int) float64 {
	const minute = int(time.Minute / Step)
	from, sum := max(0, i+1-minute), 0.0
	for _, v := range w.demand.Values[from : i+1] {
		sum += v
	}
	return sum / float64(i+1-from)
}

// recent returns the demand of the last day in points, as in the forecaster's outlook. The newest point is complete.
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

package shape

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/decide/trailing"
)

// Alone is the shape of one forecast of the window's maximum by itself: the forecast, and how far such forecasts went
// wrong of late.
type Alone struct {
	window int
	issued past
	miss   trailing.Mean
	now    Window
}

// missOver is the time over which misses are averaged.
const missOver = 2 * time.Hour

// NewAlone has seen nothing yet.
func NewAlone(c Config) *Alone {
	window := c.steps(c.Window)
	return &Alone{window: window, issued: newPast(window + 1), miss: trailing.NewMean(missOver, c.Step)}
}

// Push takes the forecast of the window ahead of the features' newest step, NaN where there is none: then it is the
// demand now.
func (a *Alone) Push(forecast float64, f *Features) Window {
	if came := f.Came(); !math.IsNaN(came) && a.issued.knows(a.window-1) {
		// What came at least says nothing against a forecast above it.
		if before := a.issued.ago(a.window - 1); !math.IsNaN(before) && (f.Exact() || came > before) {
			a.miss.Add(math.Abs(came - before))
		}
	}
	if math.IsNaN(forecast) || math.IsInf(forecast, 0) {
		forecast = f.Now()
	}
	if math.IsNaN(forecast) {
		forecast = 0 // It has not begun.
	}
	a.issued.push(forecast)
	a.now = Window{
		Median: math.Max(forecast, 0),
		Spread: math.Max(a.miss.Shrunk(leastSpread*f.Level(), spreadPrior), LeastSpread*f.Level()),
	}
	return a.now
}

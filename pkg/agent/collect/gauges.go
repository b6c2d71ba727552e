package collect

import (
	"maps"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/history"
	"github.com/forewarm/forewarm/pkg/agent/window"
)

// gauges are the windows of all series.
type gauges struct {
	length, gap time.Duration
	windows     map[history.Series]*window.Window
}

func newGauges(length, gap time.Duration) gauges {
	return gauges{length: length, gap: gap, windows: map[history.Series]*window.Window{}}
}

// take adds samples of a series, and says what it did in the window up to now.
func (g *gauges) take(now time.Time, s history.Series, samples ...gpu.Sample) window.Summary {
	own, found := g.windows[s]
	if !found {
		if len(samples) == 0 {
			return window.Summary{}
		}
		own = window.New(g.length, g.gap)
		g.windows[s] = own
	}
	for _, sample := range samples {
		own.Add(sample.Time, sample.Ratio)
	}
	return own.Summary(now)
}

// forget drops the windows in which nothing is left: a pod that is gone, a device that is lost.
func (g *gauges) forget(now time.Time) {
	maps.DeleteFunc(g.windows, func(_ history.Series, own *window.Window) bool { return own.Empty(now) })
}

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

// update adds samples of a series and returns its summary over the window up to now.
func (g *gauges) update(now time.Time, s history.Series, samples ...gpu.Sample) window.Summary {
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

// dropEmpty drops the windows without samples: of a pod that is gone, of a device that is lost.
func (g *gauges) dropEmpty(now time.Time) {
	maps.DeleteFunc(g.windows, func(_ history.Series, own *window.Window) bool { return own.Empty(now) })
}

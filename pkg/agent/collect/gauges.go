package collect

import (
	"maps"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// gauges are the windows of all series.
type gauges struct {
	length, gap time.Duration
	windows     map[Series]*gpu.Window
}

func newGauges(length, gap time.Duration) gauges {
	return gauges{length: length, gap: gap, windows: map[Series]*gpu.Window{}}
}

// update adds samples of a series and returns its summary over the window up to now.
func (g *gauges) update(now time.Time, s Series, samples ...gpu.Sample) gpu.Summary {
	own, found := g.windows[s]
	if !found {
		if len(samples) == 0 {
			return gpu.Summary{}
		}
		own = gpu.NewWindow(g.length, g.gap)
		g.windows[s] = own
	}
	for _, sample := range samples {
		own.Add(sample.Time, sample.Ratio)
	}
	return own.Summary(now)
}

// dropEmpty drops the windows without samples: of a pod that is gone, of a device that is lost.
func (g *gauges) dropEmpty(now time.Time) {
	maps.DeleteFunc(g.windows, func(_ Series, own *gpu.Window) bool { return own.Empty(now) })
}

package collect

import (
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/history"
	"github.com/forewarm/forewarm/pkg/agent/window"
)

// gauges are the windows of all series.
type gauges struct {
	length, gap time.Duration
	windows     map[history.Series]*gauge
}

type gauge struct {
	*window.Window

	// asked is when there was a summary last, and known whether there was anything in it.
	asked time.Time
	known bool
}

func newGauges(length, gap time.Duration) gauges {
	return gauges{length: length, gap: gap, windows: map[history.Series]*gauge{}}
}

// take adds samples of a series, and says what it did in the window up to now.
func (g *gauges) take(now time.Time, s history.Series, samples ...gpu.Sample) window.Summary {
	own, found := g.windows[s]
	if !found {
		if len(samples) == 0 {
			return window.Summary{}
		}
		own = &gauge{Window: window.New(g.length, g.gap)}
		g.windows[s] = own
	}
	for _, sample := range samples {
		own.Add(sample.Time, sample.Ratio)
	}
	summary := own.Summary(now)
	own.asked, own.known = now, summary.Known
	return summary
}

// forget drops the windows in which nothing is left: a pod that is gone, a device that is lost.
func (g *gauges) forget(now time.Time) {
	for s, own := range g.windows {
		if !own.asked.Equal(now) {
			own.known = own.Summary(now).Known
		}
		if !own.known {
			delete(g.windows, s)
		}
	}
}

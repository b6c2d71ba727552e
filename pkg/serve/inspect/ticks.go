package inspect

import (
	"time"

	"gonum.org/v1/plot"

	"github.com/forewarm/forewarm/pkg/ticks"
)

// clockTicks marks round times of day, UTC. The axis counts seconds from now.
type clockTicks struct{ now time.Time }

// Ticks implements plot.Ticker.
func (c clockTicks) Ticks(from, to float64) []plot.Tick { return marked(ticks.Clock(c.now, from, to)) }

// roundTicks marks round numbers.
type roundTicks struct{}

// Ticks implements plot.Ticker.
func (roundTicks) Ticks(from, to float64) []plot.Tick { return marked(ticks.Round(from, to)) }

func marked(all []ticks.Tick) []plot.Tick {
	out := make([]plot.Tick, len(all))
	for i, t := range all {
		out[i] = plot.Tick{Value: t.Value, Label: t.Label}
	}
	return out
}

package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// A forecast is cut to what history justifies, and the reason says so; what is observed is served above it.
func TestAForecastIsCutToItsLimit(t *testing.T) {
	objective := decide.Settings{Late: 0.01, Target: 10, Lead: time.Minute}
	limit := demand.Limit{Known: true, Forecast: 150, Observed: 160, Base: 100}
	for name, c := range map[string]struct {
		settings decide.Settings
		in       decide.Input
		want     float64
		bounded  bool
		reason   string
	}{
		"below the limit": {
			objective,
			decide.Input{Observed: 100, Limit: limit, Peak: windowpeak.Peak{Median: 100, Spread: 10}},
			120, false, "the forecast peak within the lead window is 100, plus 20 headroom for past forecast errors: 120 in total",
		},
		"above it": {
			objective,
			decide.Input{Observed: 100, Limit: limit, Peak: windowpeak.Peak{Median: 100, Spread: 100}},
			150, true, "limited to 150, the most that the history justifies (the highest credible demand is 100)",
		},
		"without a limit": {
			objective, decide.Input{Observed: 100, Peak: windowpeak.Peak{Median: 100, Spread: 100}}, 300, false, "the forecast peak within the lead window is 100, plus 200 headroom for past forecast errors: 300 in total",
		},
		"a suspect": {
			objective,
			decide.Input{Observed: 160, Suspect: true, Limit: limit, Peak: windowpeak.Peak{Median: 100, Spread: 10}},
			160, true, "the measured demand is higher than the history justifies (the highest credible demand is 100), so it counts as 160; raised to 160",
		},
		"a suspect, where the forecast is asked for as it is": {
			decide.Settings{Late: 0.01, Target: 10, Lead: time.Minute, Mode: decide.Forecast},
			decide.Input{Observed: 160, Suspect: true, Limit: limit, Peak: windowpeak.Peak{Median: 100, Spread: 10}},
			120, false, "the forecast peak within the lead window is 100, plus 20 headroom for past forecast errors: 120 in total",
		},
		"a demand above the limit that is no suspect": {
			objective,
			decide.Input{Observed: 155, Limit: limit, Peak: windowpeak.Peak{Median: 100, Spread: 100}},
			155, false, "raised to 155, because the observed demand is higher than the forecast",
		},
		"a quantile": {
			decide.Settings{Quantile: 0.95},
			decide.Input{Observed: 100, Limit: limit, Quantiles: window(150, 150)},
			150, true, "the 0.95 quantile of the window peak is 150; limited to 150, the most that the history justifies (the highest credible demand is 100)",
		},
	} {
		d := decide.Decide(c.settings, 2, []decide.Input{c.in})
		if d.Value != c.want || d.Bounded != c.bounded || !strings.Contains(d.Reason(), c.reason) {
			t.Errorf("%s: %v, bounded %v, %q; want %v, %v, %q", name, d.Value, d.Bounded, d.Reason(), c.want,
				c.bounded, c.reason)
		}
	}
}

package signal_test

import (
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/diagnose"
)

// Every preset has a diagnosis that can be evaluated, for every kind of workload, with all that the other presets' pods report.
func TestEveryPresetHasADiagnosis(t *testing.T) {
	var everything strings.Builder
	for _, s := range scenarios() {
		if s.trap == "" {
			everything.WriteString(shorthands.Replace(s.load))
		}
	}
	for name, load := range map[string]string{
		"nothing": "  up 1x40\n", "owners": owners + neighbours, "everything": owners + neighbours + everything.String(),
		"everything without owners": everything.String(),
	} {
		from := promqltest.LoadedStorage(t, strings.ReplaceAll("load 15s\n"+unique(load), "\n\n", "\n"))
		ask := func(expr, label string) (map[string]float64, error) {
			if len(expr) > 16<<10 {
				t.Errorf("%d bytes, more than VictoriaMetrics takes: %.200s", len(expr), expr)
			}
			found, err := answers(t, from, expr, label)
			out := map[string]float64{}
			for of, points := range found {
				out[of] = points[len(points)-1].F
			}
			return out, err
		}
		for _, preset := range signal.Presets() {
			for _, kind := range []string{"Deployment", "LLMInferenceService", "RayService"} {
				q := diagnose.Query{
					Namespace: "ai",
					Preset:    preset.Name,
					Target:    signal.Target{Kind: kind, Name: "missing"},
					Trust:     signal.DefaultTrust(),
				}
				q.Expr = render(t, preset.Name, q.Target)
				got, err := q.Find(ask)
				if err != nil || got.Message == "" || got.Remedy == "" || got.Check == "" {
					t.Errorf("%s, %s of %s: %+v, %v", name, preset.Name, kind, got, err)
				}
			}
		}
		if err := from.Close(); err != nil {
			t.Error(err)
		}
	}
}

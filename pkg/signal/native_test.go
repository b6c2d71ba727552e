package signal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// A store without functions of native histograms gets the same query without them, with the same value where there are none.
func TestPresetsWithoutNative(t *testing.T) {
	llama, native := signal.Target{Kind: "Deployment", Name: "llama"}, 0
	for _, s := range signal.Sources() {
		for _, p := range slices.Concat(s.Presets, s.Lateness) {
			expr, err := p.Render("ai", llama, trust())
			if err != nil {
				t.Fatal(err)
			}
			plain := promexpr.WithoutNative(expr)
			if strings.Contains(plain, "histogram_") {
				t.Errorf("%s still reads native histograms: %s", p.Name, plain)
			}
			if plain != expr {
				native++
			}
		}
	}
	if native < 5 {
		t.Errorf("only %d presets read native histograms", native)
	}
	for _, s := range scenarios() {
		if s.kind == "" && strings.Contains(s.preset, "arrivals") {
			load := owners + neighbours + shorthands.Replace(s.load)
			evaluates(t, load, expectation{expr: promexpr.WithoutNative(render(t, s.preset, llama)), want: s.want})
		}
	}
}

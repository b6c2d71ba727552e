package signal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// A store without functions of native histograms gets the same query without them, with the same value where there are none.
func TestWithoutNative(t *testing.T) {
	for expr, want := range map[string]string{
		`sum(rate(a_count[2m]) or histogram_count(rate(a[2m])))`: `sum(rate(a_count[2m]))`,
		`(a or histogram_count(b) or c) + 1`:                     `((a or c) + 1)`,
		`a or histogram_fraction(0, 1, b) or histogram_count(c)`: `a`,
		`sum(a) or b`:        `sum(a) or b`,
		`histogram_count(a)`: `histogram_count(a)`, // There is no other.
		`sum(`:               `sum(`,
	} {
		if got := signal.WithoutNative(expr); strings.Trim(got, "()") != strings.Trim(want, "()") {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
	llama, native := signal.Target{Kind: "Deployment", Name: "llama"}, 0
	for _, s := range signal.Sources() {
		for _, p := range slices.Concat(s.Presets, s.Lateness) {
			expr, err := p.Render("ai", llama, trust())
			if err != nil {
				t.Fatal(err)
			}
			plain := signal.WithoutNative(expr)
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
			evaluates(t, load, expectation{expr: signal.WithoutNative(render(t, s.preset, llama)), want: s.want})
		}
	}
}

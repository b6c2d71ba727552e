package promexpr_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// Alternatives that read native histograms are left out, wherever they are.
func TestWithoutNative(t *testing.T) {
	for expr, want := range map[string]string{
		`sum(rate(a_count[2m]) or histogram_count(rate(a[2m])))`: `sum(rate(a_count[2m]))`,
		`(a or histogram_count(b) or c) + 1`:                     `((a or c) + 1)`,
		`a or histogram_fraction(0, 1, b) or histogram_count(c)`: `a`,
		`sum(a) or b`:        `sum(a) or b`,
		`histogram_count(a)`: `histogram_count(a)`, // There is no other.
		`sum(`:               `sum(`,
	} {
		if got := promexpr.WithoutNative(expr); strings.Trim(got, "()") != strings.Trim(want, "()") {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}

package humanize_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

func TestFigures(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct{ got, want string }{
		{humanize.Share(0), "0%"},
		{humanize.Share(0.00005), "<0.01%"},
		{humanize.Share(0.0104), "1.04%"},
		{humanize.Share(0.1234), "12.3%"},
		{humanize.Share(nan), "-"},
		{humanize.ShareAsWritten(0.01), "1%"},
		{humanize.ShareAsWritten(0.005), "0.5%"},
		{humanize.ShareAsWritten(nan), "-"},
		{humanize.Amount(31.44), "31.4"},
		{humanize.Amount(812.4), "812"},
		{humanize.Amount(12345.6), "12,346"},
		{humanize.Amount(-1234567), "-1,234,567"},
		{humanize.Amount(math.Inf(1)), "-"},
		{humanize.Count(7), "7"},
		{humanize.Count(-12345), "-12,345"},
		{humanize.Plural(1, "GPU"), "1 GPU"},
		{humanize.Plural(12345, "GPU"), "12,345 GPUs"},
		{humanize.List(nil), ""},
		{humanize.List([]string{"a"}), "a"},
		{humanize.List([]string{"a", "b", "c"}), "a, b and c"},
		{humanize.Significant(1234.5, 3), "1230"},
		{humanize.Significant(0.000123456, 2), "0.00012"},
		{humanize.Significant(nan, 2), "-"},
		{humanize.Percent(0.1839), "18.4%"},
		{humanize.LateShare(0.00624), "0.62%"},
		{humanize.LateShare(0.00001), "<0.01%"},
		{humanize.Optional(nil, humanize.Number), "-"},
		{humanize.Span(6*time.Minute + 15*time.Second), "6m15s"},
		{humanize.Span(5 * time.Minute), "5m"},
		{humanize.Span(5*time.Minute + 123*time.Millisecond), "5m"},
		{humanize.LateShare(nan), "-"},
		{humanize.Span(24 * time.Hour), "24h"},
		{humanize.Span(60 * time.Hour), "2d12h"},
		{humanize.Span(14 * 24 * time.Hour), "14d"},
		{humanize.Period(7 * 24 * time.Hour), "7 days"},
		{humanize.Period(26 * time.Hour), "26 hours"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.125: "0.125", 118.26: "118.3", 4210: "4210", 12_350_000: "12350000", -1.5: "-1.5", 1e15: "1e+15",
	} {
		if got := humanize.Number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

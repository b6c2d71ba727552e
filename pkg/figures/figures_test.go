package figures_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/figures"
)

func TestFigures(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct{ got, want string }{
		{figures.Share(0), "0%"},
		{figures.Share(0.00005), "<0.01%"},
		{figures.Share(0.0104), "1.04%"},
		{figures.Share(0.1234), "12.3%"},
		{figures.Share(nan), "-"},
		{figures.Asked(0.01), "1%"},
		{figures.Asked(0.005), "0.5%"},
		{figures.Asked(nan), "-"},
		{figures.Amount(31.44), "31.4"},
		{figures.Amount(812.4), "812"},
		{figures.Amount(12345.6), "12,346"},
		{figures.Amount(-1234567), "-1,234,567"},
		{figures.Amount(math.Inf(1)), "-"},
		{figures.Count(7), "7"},
		{figures.Count(-12345), "-12,345"},
		{figures.Digits(1234.5, 3), "1230"},
		{figures.Digits(0.000123456, 2), "0.00012"},
		{figures.Digits(nan, 2), "-"},
		{figures.Percent(0.1839), "18.4%"},
		{figures.Late(0.00624), "0.62%"},
		{figures.Late(0.00001), "<0.01%"},
		{figures.Maybe(nil, figures.Number), "-"},
		{figures.Span(6*time.Minute + 15*time.Second), "6m15s"},
		{figures.Span(5 * time.Minute), "5m"},
		{figures.Span(5*time.Minute + 123*time.Millisecond), "5m"},
		{figures.Late(nan), "-"},
		{figures.Span(24 * time.Hour), "24h"},
		{figures.Span(60 * time.Hour), "2d12h"},
		{figures.Span(14 * 24 * time.Hour), "14d"},
		{figures.Period(7 * 24 * time.Hour), "7 days"},
		{figures.Period(26 * time.Hour), "26 hours"},
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
		if got := figures.Number(v); got != want {
			t.Errorf("%v is told as %s, want %s", v, got, want)
		}
	}
}

package figures_test

import (
	"math"
	"testing"

	"github.com/forewarm/forewarm/pkg/simulate/figures"
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
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

package decompose

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Decomposition is a series in parts: at every step the trend, the seasons and the remainder add up to the value.
type Decomposition struct {
	// Trend is the level as it moves, slower than any of the seasons.
	Trend []float64
	// Seasons are the repeating parts, the shortest period first.
	Seasons []Season
	// Remainder is what is left, NaN where the series has a gap.
	Remainder []float64
}

// Season is the part of a series that repeats with a period, about 0. It may change slowly from one season to the next.
type Season struct {
	// Period is its length in steps.
	Period int
	// Values are its effect at every step of the series.
	Values []float64
}

// Adjusted is the series without its seasons: trend and remainder. It has the gaps of the series.
func (d Decomposition) Adjusted() []float64 {
	out := make([]float64, len(d.Trend))
	for i, trend := range d.Trend {
		out[i] = trend + d.Remainder[i]
	}
	return out
}

// SeasonalStrength is how much of what moves the series beside the trend and the other seasons is season i of Seasons:
// 1 − Var(R)/Var(S+R), from 0 to 1 (Wang, Smith & Hyndman 2006), and 0 where nothing moves. Gaps
// are left out.
func (d Decomposition) SeasonalStrength(i int) float64 {
	part, rest := d.Seasons[i].Values, d.Remainder
	scale := math.Max(numeric.Scale(part), numeric.Scale(rest))
	sums := make([]float64, 0, len(part))
	alone := make([]float64, 0, len(rest))
	for i, r := range rest {
		if !math.IsNaN(r) {
			sums, alone = append(sums, part[i]/scale+r/scale), append(alone, r/scale)
		}
	}
	if len(sums) < 2 {
		return 0
	}
	whole := stat.Variance(sums, nil)
	if whole == 0 {
		return 0
	}
	return min(max(1-stat.Variance(alone, nil)/whole, 0), 1)
}

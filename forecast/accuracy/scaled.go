package accuracy

import (
	"fmt"

	"github.com/forewarm/forewarm/forecast"
)

// WQL is the weighted quantile loss: twice the sum of the Pinball losses over the sum of |y|, averaged over the levels; a
// row of quantiles for each. Relative to the size of what came, it compares series and sums up many: concatenate them
// (Salinas, Flunkert, Gasthaus & Januschowski 2020; GIFT-Eval has levels of .1 to .9).
func WQL(actual []float64, quantiles [][]float64, levels []float64) (float64, error) {
	if len(quantiles) != len(levels) || len(levels) == 0 {
		return 0, fmt.Errorf("WQL: %d levels, %d rows: %w", len(levels), len(quantiles), forecast.ErrParameter)
	}
	size, err := MAE(actual, make([]float64, len(actual)))
	if err == nil && size == 0 {
		err = fmt.Errorf("all that was observed is 0: %w", forecast.ErrTooShort)
	}
	if err != nil {
		return 0, fmt.Errorf("WQL: %w", err)
	}
	sum := 0.0
	for i, p := range levels {
		loss, err := Pinball(actual, quantiles[i], p)
		if err != nil {
			return 0, fmt.Errorf("WQL: %w", err)
		}
		sum += 2 * loss / size
	}
	return sum / float64(len(levels)), nil
}

// Score is what the M4 competition ranked a method by: both means over all of its series.
type Score struct {
	MASE, SMAPE float64
}

// OWA is the overall weighted average of the M4 competition: the mean of both measures, each over that of the Naive2
// method (package naive) on the same series (Makridakis, Spiliotis & Assimakopoulos 2020). Below 1 beats Naive2.
func OWA(method, naive2 Score) (float64, error) {
	if !(naive2.MASE > 0 && naive2.SMAPE > 0) {
		return 0, fmt.Errorf("OWA: Naive2 has MASE %v and sMAPE %v, want both above 0: %w",
			naive2.MASE, naive2.SMAPE, forecast.ErrParameter)
	}
	return (method.MASE/naive2.MASE + method.SMAPE/naive2.SMAPE) / 2, nil
}

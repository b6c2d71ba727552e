package transform

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/optimise"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// The powers among which Guerrero chooses, and how near he comes: beyond the fourth digit a power changes nothing.
const (
	leastLambda = -1
	mostLambda  = 2
)

// Guerrero is the power of a Box-Cox transform that makes the spread of the series independent of its level: the one for
// which the deviation over mean^(1−λ) varies least, in relation to its mean, among the seasons (Guerrero 1993). A period
// below 2 counts as 2. All values must be positive (else ErrParameter), and there must be two whole periods.
func Guerrero(values []float64, period int) (float64, error) {
	period = max(period, 2)
	for i, v := range values {
		if v <= 0 || math.Abs(v) > units.Limit {
			return 0, fmt.Errorf("Guerrero: value %d is %v, want more than 0 and at most %g: %w",
				i, v, units.Limit, forecast.ErrParameter)
		}
	}
	means, deviations := seasons(values, period)
	if len(means) < 2 {
		return 0, fmt.Errorf("Guerrero: %d steps hold %d periods of %d with two observations, want 2: %w",
			len(values), len(means), period, forecast.ErrTooShort)
	}
	ratios := make([]float64, len(means))
	variation := func(lambda float64) float64 {
		for i, mean := range means {
			ratios[i] = deviations[i] / math.Pow(mean, 1-lambda)
		}
		mean, deviation := stat.MeanStdDev(ratios, nil)
		if mean == 0 {
			return 0
		}
		return deviation / mean
	}
	tolerance := math.Sqrt(math.Sqrt(math.Nextafter(1, 2) - 1))
	return optimise.Brent(variation, leastLambda, mostLambda, tolerance), nil
}

// seasons are the mean and the deviation of each whole season, counted from the end, in units of the scale of all.
func seasons(values []float64, period int) (means, deviations []float64) {
	scale := units.Scale(values)
	var there []float64
	for i := len(values) % period; i < len(values); i += period {
		there = there[:0]
		for _, v := range values[i : i+period] {
			if !math.IsNaN(v) {
				there = append(there, v/scale)
			}
		}
		if len(there) > 1 {
			mean, deviation := stat.MeanStdDev(there, nil)
			means, deviations = append(means, mean), append(deviations, deviation)
		}
	}
	return means, deviations
}

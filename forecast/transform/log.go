package transform

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Log is Model with Log1p in a unit that suits the series, so that it does not matter in what the series is counted.
type Log struct {
	// Model forecasts the logarithms, and Means is as in Model.
	Model forecast.Model
	Means int
}

// logShare is the unit as a share of the typical magnitude: values below it hardly differ from 0.
const logShare = 0.01

// Name is that of the model: "SES of log".
func (m Log) Name() string {
	if m.Model == nil {
		return "log without a model"
	}
	return m.Model.Name() + " of log"
}

// Fit takes a hundredth of the mean magnitude for the unit, and wants what the model wants.
func (m Log) Fit(s forecast.Series) (forecast.Fitted, error) {
	if err := units.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	unit := logShare * magnitude(s.Values)
	if !(unit > 1e-290) {
		unit = 1 // Next to nothing so far: the logarithm is linear there.
	}
	return Model{Transform: Log1p{Unit: unit}, Model: m.Model, Means: m.Means}.Fit(s)
}

// magnitude is the mean of the values' magnitudes.
func magnitude(values []float64) float64 {
	mean, n := 0.0, 0.0
	for _, y := range values {
		if !math.IsNaN(y) {
			n++
			mean += (math.Abs(y) - mean) / n
		}
	}
	return mean
}

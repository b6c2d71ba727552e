package theta

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Theta is the Theta method with the lines 0 and 2. Seasons are not its business: decompose.Seasonal takes them off
// before it, and for demand that multiplies transform.Model takes logarithms before that, unless Period is set.
type Theta struct {
	// Period is the length of a season in steps, whose effect multiplies, as in the original method: it is divided out
	// where the autocorrelation at the period is significant at 10 % and all values are positive. Below 2 there is none.
	Period int
}

// Name is "Theta", with the period where there is one: "Theta(m=12)".
func (m Theta) Name() string {
	if m.Period < 2 {
		return "Theta"
	}
	return fmt.Sprintf("Theta(m=%d)", m.Period)
}

// Fit estimates the smoothing parameter and the first level by least squares, and wants three observations.
func (m Theta) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows the parameters.
func (m Theta) Estimate(s forecast.Series) (*Fitted, error) {
	if err := units.Check(s, 3); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	scale := units.Scale(s.Values)
	season := indices(s.Values, m.Period)
	adjusted := make([]float64, s.Len())
	for i, v := range s.Values {
		adjusted[i] = v / scale / season[i%len(season)]
	}
	path := smooth(adjusted)
	f := &Fitted{
		alpha: path.alpha, level: path.level, fade: path.fade, missed: path.missed, drift: slope(adjusted) / 2,
		deviation: path.deviation, scale: scale, season: season, at: s.Len() % len(season), next: s.End(), step: s.Step,
	}
	return f, nil
}

// slope is that of the line of least squares through the observations.
func slope(values []float64) float64 {
	var steps, there []float64
	for i, v := range values {
		if !math.IsNaN(v) {
			steps, there = append(steps, float64(i)), append(there, v)
		}
	}
	_, b := stat.LinearRegression(steps, there, nil, false)
	return b
}

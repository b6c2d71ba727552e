package arima

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// negligible is the spread, as a share of the series' magnitude, below which the differenced series is constant but for
// rounding.
const negligible = 1e-13

// problem is a series made ready for estimation: shifted and scaled so that its differences have unit deviation.
type problem struct {
	order Order
	// A value y of the series is values = (y − location)/scale here.
	location, scale float64
	values          []float64
	// level is the mean of the differences of values where there is a constant, else 0: the constant is estimated as
	// the distance from it.
	level float64
	// differenced are the d-th differences of values less the level, NaN where one of their values is missing.
	differenced []float64
	// first is the first step after the d known values with which the filter starts.
	first int
	// used counts the observations from first on.
	used int
	// flat says that the differenced series is constant, so that there is nothing to estimate.
	flat bool
}

// prepare makes a problem of the series.
func prepare(s forecast.Series, order Order) (*problem, error) {
	if err := units.Check(s, order.D+order.parameters()+1); err != nil {
		return nil, fmt.Errorf("%s: %w", order, err)
	}
	first, found := firstRun(s.Values, order.D)
	if !found {
		return nil, fmt.Errorf("%s: no %d observations in a row, with which it starts: %w",
			order, order.D, forecast.ErrTooShort)
	}
	pr := &problem{order: order, first: first, scale: units.Scale(s.Values)}
	pr.values = make([]float64, len(s.Values))
	for i, v := range s.Values {
		pr.values[i] = v / pr.scale
	}
	for _, v := range pr.values[first:] {
		if !math.IsNaN(v) {
			pr.used++
		}
	}
	if want := order.parameters() + 1; pr.used < want {
		return nil, fmt.Errorf("%s: %d observations after the first %d, want %d: %w",
			order, pr.used, first, want, forecast.ErrTooShort)
	}
	pr.standardise()
	return pr, nil
}

// firstRun is the step after the first d observations in a row.
func firstRun(values []float64, d int) (int, bool) {
	if d == 0 {
		return units.First(values), true
	}
	run := 0
	for i, v := range values {
		run++
		if math.IsNaN(v) {
			run = 0
		}
		if run == d {
			return i + 1, true
		}
	}
	return 0, false
}

// standardise shifts the values to where they have the most digits and scales them to unit deviation of their
// differences.
func (pr *problem) standardise() {
	switch {
	case pr.order.D > 0:
		pr.location = pr.values[pr.first-1]
	case pr.order.Constant:
		pr.location, _ = moments(pr.values)
	}
	for i := range pr.values {
		pr.values[i] -= pr.location
	}
	pr.differenced = differences(pr.values, pr.order.D)
	mean, deviation := moments(pr.differenced)
	if pr.order.Constant {
		pr.level = mean
	} else {
		deviation = math.Hypot(mean, deviation)
	}
	pr.location *= pr.scale
	if deviation <= negligible {
		pr.flat = true
		return
	}
	pr.scale *= deviation
	pr.level /= deviation
	for i := range pr.values {
		pr.values[i] /= deviation
		pr.differenced[i] = pr.differenced[i]/deviation - pr.level
	}
}

// differences takes the d-th differences; the first d are NaN.
func differences(values []float64, d int) []float64 {
	out := append([]float64(nil), values...)
	for range d {
		for i := len(out) - 1; i > 0; i-- {
			out[i] -= out[i-1]
		}
		if len(out) > 0 {
			out[0] = math.NaN()
		}
	}
	return out
}

// moments is the mean and the standard deviation of what is not missing; 0 and 0 where nothing is there.
func moments(values []float64) (mean, deviation float64) {
	n := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
			mean += (v - mean) / n
		}
	}
	sum := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += (v - mean) * (v - mean)
		}
	}
	return mean, math.Sqrt(sum / math.Max(n, 1))
}

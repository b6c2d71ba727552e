package arima

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// negligible is the spread, as a share of the series' magnitude, below which the differenced series is constant but for
// rounding.
const negligible = 1e-13

// problem is a series made ready for estimation: shifted and scaled so that its differences have unit deviation once
// the regression is taken out, and cut to what lies between the first observation and the last.
type problem struct {
	order Order
	// A value y of the series is (y − location)/scale here.
	location, scale float64
	// levels are the series, NaN where it is missing, and then the column of the constant where there is one.
	levels [][]float64
	// filled is the series with its gaps interpolated, differenced are the differences of that and of the other levels.
	// They serve where a rough picture will do: for first guesses, and for values of the start of which nothing is
	// known.
	filled      []float64
	differenced [][]float64
	// regression is nil without a constant.
	regression *regression
	// gaps means that values are missing.
	gaps bool
	// used counts the observations after those with which the differences start.
	used int
	// flat means that the differenced series is constant, so that there is nothing to estimate.
	flat bool
}

// prepare makes a problem of the series.
func prepare(s forecast.Series, order Order) (*problem, error) {
	parameters := order.parameters()
	if err := numeric.Check(s, order.D+parameters+1); err != nil {
		return nil, fmt.Errorf("%s: %w", order, err)
	}
	first, last := numeric.First(s.Values), s.Len()
	for math.IsNaN(s.Values[last-1]) {
		last--
	}
	pr := &problem{order: order, scale: numeric.Scale(s.Values)}
	delta := differencing(order.D, order.Seasonal.D, order.Seasonal.Period)
	pr.used = s.Observed() - delta.degree()
	if want := parameters + 1; pr.used < want || last-first < delta.degree()+want {
		return nil, fmt.Errorf("%s: %d observations after the first %d, expected at least %d: %w",
			order, max(pr.used, 0), delta.degree(), want, forecast.ErrTooShort)
	}
	pr.gaps = s.Observed() < last-first
	pr.levels = [][]float64{pr.shifted(s.Values[first:last])}
	pr.filled = filled(pr.levels[0], order.Seasonal.Period)
	pr.differenced = [][]float64{delta.apply(pr.filled)}
	if order.Constant {
		column := make([]float64, last-first)
		for i := range column {
			column[i] = order.constantAt(first + i + 1)
		}
		pr.levels, pr.differenced = append(pr.levels, column), append(pr.differenced, delta.apply(column))
	}
	pr.standardise()
	return pr, nil
}

// shifted is the series in problem units but for the deviation, near 0 where it has the most digits.
func (pr *problem) shifted(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / pr.scale
	}
	shift := 0.0
	switch {
	case pr.order.differences() > 0:
		shift = out[0]
	case pr.order.Constant:
		shift, _ = moments(out)
	}
	for i := range out {
		out[i] -= shift
	}
	pr.location = shift * pr.scale
	return out
}

// filled is a copy of the values with their gaps interpolated.
func filled(values []float64, period int) []float64 {
	var periods []int
	if period > 1 {
		periods = append(periods, period)
	}
	out, err := decompose.Interpolate(values, periods...)
	if err != nil {
		return make([]float64, len(values))
	}
	return out
}

// standardise takes a first regression out of the series and scales it to unit deviation of its differences.
func (pr *problem) standardise() {
	if pr.order.Constant {
		pr.regression = newRegression(pr.differenced[1], pr.levels[1])
		pr.regression.remove(pr.differenced[0], pr.filled, pr.levels[0])
	}
	mean, deviation := moments(pr.differenced[0])
	deviation = math.Hypot(mean, deviation)
	if deviation <= negligible {
		pr.flat = true
		return
	}
	pr.scale *= deviation
	if pr.regression != nil {
		pr.regression.first /= deviation
	}
	for _, values := range [][]float64{pr.levels[0], pr.filled, pr.differenced[0]} {
		for i := range values {
			values[i] /= deviation
		}
	}
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

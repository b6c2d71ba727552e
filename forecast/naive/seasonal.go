// Package naive contains the baselines: the series keeps its last value, or repeats its last season.
//
//	Last            the last observation
//	Seasonal        the same step of the last season
//	Deseasonalised  the last observation with the season's factors: the M4 competition's Naive2
//
// The methods estimate only the size of their errors, need little history and cannot diverge. Every model must beat
// them, and they are used until one does.
//
// The errors are assumed to be Gaussian. The standard errors of a random walk grow with √h, and the standard errors of a seasonal random
// walk grow with every whole season (Hyndman & Athanasopoulos 2021, §5.5).
package naive

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Seasonal is the seasonal random walk: the forecast of every step is the value of the same step in the last season. If this value is
// missing, it is the value of the season before, and so on. If no season has a value, it is the last observation.
type Seasonal struct {
	// Period is the length of the season in steps, 2 or more.
	Period int
}

// Name returns the name of the method with its period: "Seasonal naive(m=24)".
func (m Seasonal) Name() string { return fmt.Sprintf("Seasonal naive(m=%d)", m.Period) }

// Fit keeps the last season and measures the differences from season to season. It needs more than one season, and one pair of observations
// that are a season apart. A difference over k seasons counts as k differences.
func (m Seasonal) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Period < 2 {
		return nil, fmt.Errorf("%s: period %d, expected 2 or more: %w", m.Name(), m.Period, forecast.ErrParameter)
	}
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	if s.Len() <= m.Period {
		return nil, fmt.Errorf("%s: %d steps, expected more than %d: %w", m.Name(), s.Len(), m.Period,
			forecast.ErrTooShort)
	}
	f := &seasonal{
		values: slices.Repeat([]float64{math.NaN()}, m.Period), ages: make([]uint16, m.Period),
		next: s.End(), step: s.Step,
	}
	scale := numeric.Scale(s.Values)
	squares, count := 0.0, 0
	for _, y := range s.Values {
		if before := f.values[f.at]; !math.IsNaN(y) && !math.IsNaN(before) {
			d := (y - before) / scale
			squares += d * d / (float64(f.ages[f.at]) + 1)
			count++
		}
		f.observe(y)
	}
	if count == 0 {
		return nil, fmt.Errorf("%s: no two observations a season apart: %w", m.Name(), forecast.ErrTooShort)
	}
	f.deviation = scale * math.Sqrt(squares/float64(count))
	return f, nil
}

// seasonal is a fitted seasonal random walk at its origin.
type seasonal struct {
	// values are the newest observations of the season's steps; NaN if there was none. ages are their ages in seasons; 0 means the last
	// season. Two slices need less memory than one slice of pairs.
	values []float64
	ages   []uint16
	// at is the season's next step.
	at        int
	last      float64
	deviation float64
	next      time.Time
	step      time.Duration
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *seasonal) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.observe(y)
}

func (f *seasonal) observe(y float64) {
	switch {
	case numeric.Observed(y):
		f.last, f.values[f.at], f.ages[f.at] = y, y, 0
	case f.ages[f.at] < math.MaxUint16:
		f.ages[f.at]++
	}
	f.at = (f.at + 1) % len(f.values)
}

// PointsTo writes the last season to dst, repeated as needed.
func (f *seasonal) PointsTo(dst []float64) {
	at := f.at
	for i := range dst {
		dst[i] = f.values[at]
		if math.IsNaN(dst[i]) {
			dst[i] = f.last
		}
		at++
		if at == len(f.values) {
			at = 0
		}
	}
}

// Forecast returns the points with the standard errors σ√(k+1) for step h. Here, k is the number of whole seasons in h−1, plus the age of
// the slot's observation in seasons.
func (f *seasonal) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		seasons := i/len(f.values) + 1 + int(f.ages[(f.at+i)%len(f.values)])
		out.StdErr[i] = f.deviation * math.Sqrt(float64(seasons))
	}
	return out
}

// Last is the random walk: the forecast of every step is the last observation.
type Last struct{}

// Name returns "Last value".
func (Last) Name() string { return "Last value" }

// Fit keeps the last observation and measures the differences between neighboring observations. It needs two observations. A difference
// over k steps counts as k differences.
func (m Last) Fit(s forecast.Series) (forecast.Fitted, error) {
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	scale := numeric.Scale(s.Values)
	previous, squares, count := -1, 0.0, 0
	for i, v := range s.Values {
		if math.IsNaN(v) {
			continue
		}
		if previous >= 0 {
			d := (v - s.Values[previous]) / scale
			squares += d * d / float64(i-previous)
			count++
		}
		previous = i
	}
	return &last{
		value: s.Values[previous], age: s.Len() - 1 - previous,
		deviation: scale * math.Sqrt(squares/float64(count)), next: s.End(), step: s.Step,
	}, nil
}

// last is a fitted random walk at its origin. age is the number of steps since its value was observed.
type last struct {
	value, deviation float64
	age              int
	next             time.Time
	step             time.Duration
}

// Update moves the origin one step forward. A value that is not finite, or beyond 1e150, counts as missing.
func (f *last) Update(y float64) {
	f.next = f.next.Add(f.step)
	f.age++
	if numeric.Observed(y) {
		f.value, f.age = y, 0
	}
}

// PointsTo writes the last observation to every element.
func (f *last) PointsTo(dst []float64) {
	for i := range dst {
		dst[i] = f.value
	}
}

// Forecast returns the points with the standard errors σ√h for step h, counted from the last observation.
func (f *last) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.deviation * math.Sqrt(float64(f.age+i+1))
	}
	return out
}

// minIndex and maxIndex bound the seasonal indices, so that a value that is divided by one index and multiplied by another one stays
// finite.
const (
	minIndex = 1e-6
	maxIndex = 1e6
)

// seasonal90 is the competition's test for a season: it reports whether the autocorrelation at the period is outside Bartlett's 90 %
// limits, 1.645·√((1 + 2Σr²)/n), where the sum is over the shorter lags. It needs three seasons.
func seasonal90(values []float64, period int) bool {
	if len(values) < 3*period {
		return false
	}
	deviations := centred(values)
	variance := numeric.Dot(deviations, deviations)
	if variance == 0 {
		return false
	}
	squares := 0.0
	for lag := 1; lag < period; lag++ {
		r := numeric.Dot(deviations[lag:], deviations[:len(deviations)-lag]) / variance
		squares += r * r
	}
	r := numeric.Dot(deviations[period:], deviations[:len(deviations)-period]) / variance
	return math.Abs(r) > 1.645*math.Sqrt((1+2*squares)/float64(len(values)))
}

// centred returns the values' deviations from their mean, in units of the largest value; 0 for a gap.
func centred(values []float64) []float64 {
	largest := 0.0
	for _, v := range values {
		if v > largest {
			largest = v
		}
	}
	var seen []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			seen = append(seen, v/largest)
		}
	}
	mean := stat.Mean(seen, nil)
	out := make([]float64, len(values))
	for i, v := range values {
		if !math.IsNaN(v) {
			out[i] = v/largest - mean
		}
	}
	return out
}

// ratioIndices returns the seasonal indices by the ratio-to-moving-average method. Their mean is 1. The first index belongs to the first
// value.
func ratioIndices(values []float64, period int) []float64 {
	sums, counts := make([]float64, period), make([]float64, period)
	half := period / 2
	for i := half; i < len(values)-half; i++ {
		if ratio := values[i] / movingAverage(values, i, period); !math.IsNaN(ratio) {
			sums[i%period] += ratio
			counts[i%period]++
		}
	}
	for i := range sums {
		sums[i] /= counts[i]
	}
	mean := stat.Mean(sums, nil)
	for i := range sums {
		sums[i] /= mean
	}
	return sums
}

// movingAverage returns the mean over one period, centered at i. With an even period, both ends have half the weight.
func movingAverage(values []float64, i, period int) float64 {
	half := period / 2
	sum := 0.0
	for k := -half; k <= half; k++ {
		weight := 1.0
		if period%2 == 0 && (k == -half || k == half) {
			weight = 0.5
		}
		sum += weight / float64(period) * values[i+k]
	}
	return sum
}

// positive reports whether every observation is above 0.
func positive(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v <= 0 })
}

// usable reports whether every index is known and within its bounds.
func usable(indices []float64) bool {
	return !slices.ContainsFunc(indices, func(index float64) bool { return !(index > minIndex && index < maxIndex) })
}

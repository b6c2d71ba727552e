// Package naive has the baselines: the series stays as it is, or repeats the last season.
//
//	Last            the last observation
//	Seasonal        the same step of the last season
//	Deseasonalised  the last observation with the season's factors: the M4 competition's Naive2
//
// The methods estimate only the size of their errors, need little history and cannot diverge. Every model must beat
// them, and they are used until one does.
//
// The standard errors are Gaussian: those of a random walk grow with √h, those of a seasonal random walk by whole
// seasons (Hyndman & Athanasopoulos 2021, §5.5).
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

// Seasonal is the seasonal random walk: every step ahead is what the same step of the last season was. Where that is
// missing it is what the season before had, and so on; where no season has it, the last observation.
type Seasonal struct {
	// Period is the length of the season in steps, 2 or more.
	Period int
}

// Name is the method with its period: "Seasonal naive(m=24)".
func (m Seasonal) Name() string { return fmt.Sprintf("Seasonal naive(m=%d)", m.Period) }

// Fit keeps the last season and measures the differences from season to season. It wants more than one season, with one
// pair of observations a season apart. A difference over k seasons counts as k.
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

// seasonal is a seasonal random walk at its origin.
type seasonal struct {
	// values are the newest observations of the season's steps, NaN where there never was one; ages are how many seasons
	// ago beyond the last they were made. Two slices hold them in less memory than one of pairs.
	values []float64
	ages   []uint16
	// at is the season's step that comes next.
	at        int
	last      float64
	deviation float64
	next      time.Time
	step      time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
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

// PointsTo writes the last season, over and over.
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

// Forecast has σ√(k+1) for the standard error of step h, k the whole seasons in h−1, with one more season for each that
// the slot's observation lies further back.
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

// Last is the random walk: every step ahead is the last observation.
type Last struct{}

// Name is "Last value".
func (Last) Name() string { return "Last value" }

// Fit keeps the last observation and measures the steps between neighbours. It wants two observations. A step over a
// gap of k values counts as k steps.
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

// last is a random walk at its origin; age is how many steps ago its value was observed.
type last struct {
	value, deviation float64
	age              int
	next             time.Time
	step             time.Duration
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
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

// Forecast has σ√h for the standard error of step h, counted from the last observation.
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

// minIndex and maxIndex bound the seasonal indices, so that dividing by one and multiplying by another stays finite.
const (
	minIndex = 1e-6
	maxIndex = 1e6
)

// seasonal90 is the competition's test of a season: the autocorrelation at the period lies outside Bartlett's 90 %
// limits, 1.645·√((1 + 2Σr²)/n) over the shorter lags. It wants three seasons.
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

// centred are the values' deviations from their mean, 0 for a gap, in units of the largest value.
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

// ratioIndices are the seasonal indices by ratio to moving average, with mean 1; the first belongs to the first value.
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

// movingAverage is the mean over one period centred at i; one of even length has half of either end.
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

// usable reports whether every index is there and of moderate size.
func usable(indices []float64) bool {
	return !slices.ContainsFunc(indices, func(index float64) bool { return !(index > minIndex && index < maxIndex) })
}

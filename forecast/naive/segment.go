package naive

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// Segment forecasts, for every step ahead, the mean since the level last shifted. A shift is found by two cumulative sums
// of the deviations from the mean, one for each direction (Page 1954): one that passes a threshold ends the segment, and
// the new one began when that sum was last 0. Between shifts it averages as much as there is; after one it forgets at
// once.
type Segment struct {
	// Horizon is how many steps ahead the size of a shift is chosen for, 0 means 1.
	Horizon int
}

var (
	_ forecast.Model  = Segment{}
	_ forecast.Fitted = (*FittedSegment)(nil)
)

// Name is "Segment".
func (Segment) Name() string { return "Segment" }

// Fit wants two observations. The deviation that a shift is measured in is one of a few multiples of that of neighbouring
// observations: the one with the least absolute error at the Horizon. Errors: forecast.ErrParameter,
// forecast.ErrTooShort, forecast.ErrNotFinite.
func (m Segment) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Horizon < 0 {
		return nil, fmt.Errorf("%s: horizon %d, want 0 or more: %w", m.Name(), m.Horizon, forecast.ErrParameter)
	}
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	scale := numeric.Scale(s.Values)
	values := make([]float64, s.Len())
	for i, v := range s.Values {
		values[i] = v / scale
	}
	base, best, least := roughness(values), (*FittedSegment)(nil), math.Inf(1)
	for _, multiple := range []float64{1, 2, 4, 8} {
		f := &FittedSegment{deviation: multiple * base, scale: scale, next: s.Start, step: s.Step}
		if loss := f.run(values, max(m.Horizon, 1)); best == nil || loss < least {
			best, least = f, loss
		}
	}
	return best, nil
}

// roughness is the deviation of neighbouring observations from each other, by the median (Hampel 1974): shifts do not
// count. Where most do not differ it is that of the mean of their differences.
func roughness(values []float64) float64 {
	var moves []float64
	last, sum := math.NaN(), 0.0
	for _, v := range values {
		if move := math.Abs(v - last); !math.IsNaN(move) {
			moves = append(moves, move)
			sum += move
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	slices.Sort(moves)
	const consistent = 1.4826 / math.Sqrt2 // Of a Gaussian, and of the difference of two.
	if median := moves[len(moves)/2]; median > 0 {
		return consistent * median
	}
	return sum / float64(len(moves))
}

const (
	// allowance is the part of a deviation that does not count, half of the smallest shift to be found; alarm is the sum
	// that ends a segment: by chance one comes in 465 steps of Gaussian noise (Montgomery 2012, table 9.3).
	allowance, alarm = 0.5, 5
	// farthest is the most deviations that one observation counts for: no fewer than three are a shift.
	farthest = 3
)

// FittedSegment is a Segment with the newest segment it found.
type FittedSegment struct {
	mean, count float64
	up, down    excess
	// squares are those of the one-step errors, of which there were errors.
	squares, errors  float64
	deviation, scale float64
	next             time.Time
	step             time.Duration
}

// excess is a cumulative sum, and the observations since it was last 0.
type excess struct{ sum, total, count float64 }

// add takes a deviation beyond the allowance, and reports whether the sum has passed the threshold.
func (e *excess) add(beyond, y float64) bool {
	e.sum += beyond
	if !(e.sum > 0) {
		*e = excess{}
		return false
	}
	e.total += y
	e.count++
	return e.sum > alarm
}

// run takes all values and returns the absolute error of the means so many steps before.
func (f *FittedSegment) run(values []float64, horizon int) float64 {
	means := make([]float64, len(values))
	loss := 0.0
	for i, y := range values {
		f.next = f.next.Add(f.step)
		f.take(y)
		means[i] = f.mean
		if i >= horizon && !math.IsNaN(y) {
			loss += math.Abs(y - means[i-horizon])
		}
	}
	return loss
}

// Length is how many observations the newest segment has.
func (f *FittedSegment) Length() int { return int(f.count) }

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *FittedSegment) Update(y float64) {
	f.next = f.next.Add(f.step)
	if numeric.Observed(y) {
		f.take(min(max(y/f.scale, -numeric.Limit), numeric.Limit))
	}
}

// take takes an observation in units of scale, NaN where it is missing.
func (f *FittedSegment) take(y float64) {
	if math.IsNaN(y) {
		return
	}
	if f.count > 0 {
		e := y - f.mean
		f.squares += e * e
		f.errors++
		z := 0.0
		if f.deviation > 0 {
			z = min(max(e/f.deviation, -farthest), farthest)
		}
		rose, fell := f.up.add(z-allowance, y), f.down.add(-z-allowance, y)
		if rose || fell {
			newest := f.up
			if fell {
				newest = f.down
			}
			f.mean, f.count = newest.total/newest.count, newest.count
			f.up, f.down = excess{}, excess{}
			return
		}
	}
	f.count++
	f.mean += (y - f.mean) / f.count
}

// PointsTo writes the mean of the segment to every step.
func (f *FittedSegment) PointsTo(dst []float64) {
	for i := range dst {
		dst[i] = f.mean * f.scale
	}
}

// Forecast is the mean for every step. Its standard error is that of one step at every horizon: within a segment errors
// do not add up.
func (f *FittedSegment) Forecast(h int) forecast.Forecast {
	out := forecast.Forecast{
		Start: f.next, Step: f.step, Point: make([]float64, max(h, 0)), StdErr: make([]float64, max(h, 0)),
	}
	f.PointsTo(out.Point)
	for i := range out.StdErr {
		out.StdErr[i] = f.scale * math.Sqrt(f.squares/math.Max(f.errors, 1))
	}
	return out
}

package ets

import (
	"fmt"
	"math"

	"github.com/forewarm/forewarm/forecast"
)

// Region is where the smoothing parameters are searched.
type Region int

// The regions.
const (
	// Usual: 0 < α < 1, 0 < β < α, 0 < γ < 1 − α, 0.8 ≤ φ ≤ 0.98, in which every state is a weighted mean of past
	// values; and of that only what is forecastable: with trend and season, half of it is not.
	Usual Region = iota
	// Admissible: all that is forecastable, so that the weight of an observation fades with its age. It is wider, and
	// lets a surprise be more than corrected.
	Admissible
)

// The margins that R's ets keeps from the borders, so that the likelihoods compare.
const (
	margin   = 1e-4
	leastPhi = 0.8
	mostPhi  = 0.98
)

// longestChecked is the longest season for which every point of a search is checked: the check takes the square of it.
// With a longer one the search runs without, and once more with it where its end is not forecastable.
const longestChecked = 200

// bound is the range of one parameter, of which a share u in [0, 1] is taken: low + (span + tilt·α)·u.
type bound struct {
	free            bool
	low, span, tilt float64
}

// space maps the angles that the search moves to the smoothing parameters: u = sin²(angle), so that a border is a
// smooth turning point at a finite place. The order is α, β, γ, φ.
type space struct {
	bounds [4]bound
	// angles is the number of free parameters, given that of the others.
	angles, given int
	// check asks whether a point of the box is forecastable.
	check  bool
	spec   Spec
	period int
	// theta is room for the check.
	theta []float64
}

// newSpace is the space of the parameters that are not given.
func newSpace(m Model) (*space, error) {
	out := &space{spec: m.Spec, period: m.Period}
	if m.Season == NoSeason {
		out.period = 1
	}
	out.check = out.period <= longestChecked && (m.Region == Admissible || m.Season != NoSeason && m.Trend != NoTrend)
	out.theta = make([]float64, 3*(out.period+2))
	wide := m.Region == Admissible
	boxes := [4]bound{
		{low: margin, span: 1 - 2*margin},
		{low: margin, span: -margin, tilt: 1},
		{low: margin, span: 1 - margin, tilt: -1},
		{low: leastPhi, span: mostPhi - leastPhi},
	}
	if wide {
		boxes[0].span = 2 - 2*margin
		boxes[1] = bound{low: margin, span: 4 - 2*margin}
		boxes[2] = bound{low: margin, span: 2 - 2*margin}
	}
	has := [4]bool{true, m.Trend != NoTrend, m.Season != NoSeason, m.Trend == DampedTrend}
	out.bounds[phiAt].low = 1
	for i, given := range [4]*float64{m.Alpha, m.Beta, m.Gamma, m.Phi} {
		switch {
		case !has[i]:
		case given == nil:
			out.bounds[i] = boxes[i]
			out.bounds[i].free = true
			out.angles++
		default:
			if err := checkGiven(i, *given); err != nil {
				return nil, err
			}
			out.bounds[i].low = *given
			out.given++
		}
	}
	out.narrow(wide)
	return out, nil
}

// phiAt is the place of φ among the parameters.
const phiAt = 3

// checkGiven reports a given parameter with which no model makes sense. Outside the usual region it is the caller's.
func checkGiven(i int, v float64) error {
	if v >= 0 && v <= 2 && (i != phiAt || v > 0 && v <= 1) {
		return nil
	}
	name := [4]string{"alpha", "beta", "gamma", "phi"}[i]
	return fmt.Errorf("%s = %v is outside its range: %w", name, v, forecast.ErrParameter)
}

// narrow keeps a free α from where a given β or γ would leave the usual region.
func (s *space) narrow(wide bool) {
	alpha := &s.bounds[0]
	if wide || !alpha.free {
		return
	}
	high := alpha.low + alpha.span
	if !s.bounds[1].free {
		alpha.low = math.Max(alpha.low, math.Min(s.bounds[1].low, high))
	}
	if !s.bounds[2].free {
		high = math.Max(alpha.low, math.Min(high, 1-s.bounds[2].low))
	}
	alpha.span = high - alpha.low
}

// at is the parameters at the angles. False means that they are not forecastable, where that is checked.
func (s *space) at(angles []float64) (Parameters, bool) {
	var v [4]float64
	next := 0
	for i, b := range s.bounds {
		v[i] = b.low
		if b.free {
			sine := math.Sin(angles[next])
			v[i] += math.Max(b.span+b.tilt*v[0], 0) * sine * sine
			next++
		}
	}
	p := Parameters{Alpha: v[0], Beta: v[1], Gamma: v[2], Phi: v[3]}
	return p, !s.check || s.forecastable(p)
}

// chain turns the slopes d along the parameters at the angles into those along the angles.
func (s *space) chain(angles []float64, d Parameters, dst []float64) {
	along := [4]float64{d.Alpha, d.Beta, d.Gamma, d.Phi}
	first := s.bounds[0]
	alpha := first.low
	if first.free {
		sine := math.Sin(angles[0])
		alpha += first.span * sine * sine
	}
	last := s.angles
	for i := len(along) - 1; i >= 0; i-- {
		b := s.bounds[i]
		if !b.free {
			continue
		}
		last--
		sine, cosine := math.Sincos(angles[last])
		dst[last] = along[i] * math.Max(b.span+b.tilt*alpha, 0) * 2 * sine * cosine
		along[0] += along[i] * b.tilt * sine * sine
	}
}

// angle is the one at which a share of a bound is taken.
func angle(share float64) float64 { return math.Asin(math.Sqrt(share)) }

package smoothing

import (
	"math"

	"github.com/forewarm/forewarm/forecast/smoothing/internal/response"
)

const (
	// leastShare is the share of the forecast below which an observation is not taken where a season multiplies, so
	// that no state reaches 0; floorShare is the least level, as a share of the lowest observation, and mostFactor
	// bounds the season, 1/mostFactor from below.
	leastShare = 1e-3
	floorShare = 1e-3
	mostFactor = 1e6
)

// runTimes is run for a season that multiplies. It is +Inf where a level or a season leaves the positive numbers.
//
// With q = l + φb, the forecast is q·s and the states move by α·e/s, αβ·e/s and (1−α)γ·e/l, with l the new level: the
// error-correction form of Winters' y/l and y/s (1960).
func (s *state) runTimes(g response.Gains, values []float64) float64 {
	level, trend, at, season := s.level, s.trend, s.at, s.season
	sum, lowest := 0.0, math.Inf(1)
	for _, y := range values {
		damped := g.Phi * trend
		base, factor := level+damped, season[at]
		surprise := y - base*factor
		if math.IsNaN(surprise) {
			surprise = 0
		}
		sum += surprise * surprise
		// The quotient does not wait for the surprise: the loop is as fast as the chain from level to level.
		over := 1 / factor
		level = base + (g.Level*over)*surprise
		trend = damped + (g.Trend*over)*surprise
		season[at] = factor + g.Season*surprise/level
		lowest = min(lowest, level, season[at])
		at++
		if at == len(season) {
			at = 0
		}
	}
	s.level, s.trend, s.at = level, trend, at
	if !(lowest > 0) {
		return math.Inf(1)
	}
	return sum
}

// moveTimes takes a state whose season multiplies one step on with its observation, NaN where it is missing, and keeps
// it positive.
func (s *state) moveTimes(g response.Gains, y, floor float64) {
	damped := g.Phi * s.trend
	base, factor := math.Max(s.level+damped, floor), s.season[s.at]
	mean := base * factor
	surprise := math.Max(y, leastShare*mean) - mean
	if math.IsNaN(y) {
		surprise = 0
	}
	share := surprise / factor
	s.level = math.Max(base+g.Level*share, floor)
	s.trend = damped + g.Trend*share
	s.season[s.at] = min(max(factor+g.Season*surprise/s.level, 1/mostFactor), mostFactor)
	s.at++
	if s.at == len(s.season) {
		s.at = 0
	}
}

// pointsTimes is PointsTo for a season that multiplies.
func (f *Fitted) pointsTimes(dst []float64) {
	level, trend, at := f.state.level, f.state.trend, f.state.at
	for i := range dst {
		trend *= f.gains.Phi
		level += trend
		dst[i] = math.Max(level, f.floor) * f.state.season[at]
		at++
		if at == len(f.state.season) {
			at = 0
		}
	}
}

// longestGap bounds the steps of a gap that errorsTimes goes over.
const longestGap = 1000

// errorsTimes writes the standard errors where a season multiplies: a surprise of step k reaches step h with the
// response times the ratio of their seasons (Chatfield & Yar 1991). The steps of a gap at the origin count like those
// ahead.
func (f *Fitted) errorsTimes(dst []float64) {
	missing := f.missing
	n := missing + len(dst)
	season, squares := make([]float64, n), make([]float64, n)
	responses := response.New(f.gains, f.period)
	for i := range n {
		season[i] = f.state.season[((f.state.at+i-missing)%f.period+f.period)%f.period]
		c := responses.Next()
		squares[i] = c * c
	}
	for i := range dst {
		h := missing + i
		sum := 1 + f.faded
		for k := range h {
			ratio := season[h] / season[k]
			sum += squares[h-1-k] * ratio * ratio
		}
		dst[i] = f.deviation * math.Sqrt(sum)
	}
}

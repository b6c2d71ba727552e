package smoothing

import "math"

// doubleState is the level, the trend, the two seasons with the slots of the coming step, and the remainder.
type doubleState struct {
	level, trend, rest float64
	short, long        []float64
	atShort            int
	atLong             int
}

// run moves the state over the values and returns the sum of the squared surprises.
func (s *doubleState) run(p DoubleParameters, values []float64) float64 {
	level, trend, rest, short, long := s.level, s.trend, s.rest, s.short, s.long
	atShort, atLong := s.atShort, s.atLong
	sum := 0.0
	for _, y := range values {
		rest *= p.Rho
		trend *= p.Phi
		level += trend
		surprise := y - (level + rest + short[atShort] + long[atLong])
		if math.IsNaN(surprise) {
			surprise = 0
		}
		sum += surprise * surprise
		level += p.Alpha * surprise
		trend += p.Beta * surprise
		rest += surprise
		short[atShort] += p.Delta * surprise
		long[atLong] += p.Omega * surprise
		atShort++
		if atShort == len(short) {
			atShort = 0
		}
		atLong++
		if atLong == len(long) {
			atLong = 0
		}
	}
	s.level, s.trend, s.rest, s.atShort, s.atLong = level, trend, rest, atShort, atLong
	return sum
}

// points writes the forecasts of the coming steps to dst.
func (s *doubleState) points(p DoubleParameters, dst []float64) {
	level, trend, rest, atShort, atLong := s.level, s.trend, s.rest, s.atShort, s.atLong
	for i := range dst {
		rest *= p.Rho
		trend *= p.Phi
		level += trend
		dst[i] = level + rest + s.short[atShort] + s.long[atLong]
		atShort++
		if atShort == len(s.short) {
			atShort = 0
		}
		atLong++
		if atLong == len(s.long) {
			atLong = 0
		}
	}
}

// set copies another state of the same periods.
func (s *doubleState) set(from *doubleState) {
	s.level, s.trend, s.rest, s.atShort, s.atLong = from.level, from.trend, from.rest, from.atShort, from.atLong
	copy(s.short, from.short)
	copy(s.long, from.long)
}

func newDoubleState(periods [2]int) doubleState {
	return doubleState{short: make([]float64, periods[0]), long: make([]float64, periods[1])}
}

// doubleResponses yields the responses of the series to a surprise of 1: c_j = α + β(φ + … + φ^j) + ρ^j, and δ or ω on top
// where j is a whole number of short or long seasons.
type doubleResponses struct {
	DoubleParameters
	short, long int
	step        int
	// power is ρ^j, fade φ^j and sum φ + … + φ^j.
	power, fade, sum float64
}

func newDoubleResponses(p DoubleParameters, periods [2]int) doubleResponses {
	return doubleResponses{DoubleParameters: p, short: periods[0], long: periods[1], power: 1, fade: 1}
}

// next is the response one step further on.
func (r *doubleResponses) next() float64 {
	r.step++
	r.power *= r.Rho
	r.fade *= r.Phi
	r.sum += r.fade
	c := r.Alpha + r.Beta*r.sum + r.power
	if r.step%r.short == 0 {
		c += r.Delta
	}
	if r.step == r.long {
		c += r.Omega
		r.step = 0
	}
	return c
}

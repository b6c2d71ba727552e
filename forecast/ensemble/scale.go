package ensemble

import "math"

// scales are the units in which errors may be measured. Errors that are alike in one of them can be compared with each
// other whatever the level of the series; which one that is differs from series to series.
type scales struct {
	// typical is the slow mean of the magnitude, moves that of the one-step changes these hours.
	typical, moves record
	// last is the newest observation, NaN before the first.
	last float64
	// keepLevel and keepMoves are the factors by which the two means forget.
	keepLevel, keepMoves float64
}

// unit is a kind of scale.
type unit int

const (
	// constant is the typical magnitude: errors do not depend on the level.
	constant unit = iota
	// proportional is the magnitude of the forecast.
	proportional
	// recent is the geometric mean of recent moves and the typical magnitude: large errors come in clusters.
	recent
)

const (
	levelHalfLife = 720
	movesHalfLife = 60
	// leastLevel and leastMove, as shares of the typical magnitude, are the least a unit can be. Errors in next to nothing
	// would be far too large for the time after: with 0.02 for the level, an outage multiplied the bounds of the next day.
	leastLevel = 0.2
	leastMove  = 0.01
)

func newScales() scales {
	return scales{
		last: math.NaN(), keepLevel: math.Exp2(-1.0 / levelHalfLife), keepMoves: math.Exp2(-1.0 / movesHalfLife),
	}
}

// observe takes a value, NaN for a gap.
func (s *scales) observe(y float64) {
	if math.IsNaN(y) {
		return
	}
	s.typical.add(math.Abs(y), s.keepLevel)
	if move := math.Abs(y - s.last); !math.IsNaN(move) {
		s.moves.add(move, s.keepMoves)
	}
	s.last = y
}

// level is the typical magnitude, never 0.
func (s *scales) level() float64 {
	level := s.typical.mean()
	if !(level > 1e-300) {
		return 1 // Zeros so far: any unit will do.
	}
	return level
}

// in is the unit of a kind for a forecast.
func (s *scales) in(kind unit, centre float64) float64 {
	level := s.level()
	switch kind {
	case constant:
	case proportional:
		return math.Max(math.Abs(centre), leastLevel*level)
	case recent:
		if move := s.moves.mean(); !math.IsNaN(move) {
			return math.Sqrt(level) * math.Sqrt(math.Max(move, leastMove*level))
		}
	}
	return level
}

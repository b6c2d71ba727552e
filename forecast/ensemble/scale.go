package ensemble

import "math"

// scales are the units in which errors may be measured. Errors that are alike in one of them can be compared with each
// other whatever the level of the series; which one that is differs from series to series.
type scales struct {
	// typical is the slow mean of the magnitude.
	typical record
	// moves is the mean of the last value's one-step errors these hours.
	moves record
	last  float64
	// keeps are the factors by which the two means forget.
	keepLevel, keepMoves float64
}

// The units.
const (
	constant     = iota // the typical magnitude: errors do not depend on the level
	squareRoot          // of the forecast: errors as of counts
	proportional        // to the forecast
	recent              // the geometric mean of the recent moves and the typical magnitude: errors come in clusters
	unitCount
)

const (
	levelHalfLife = 720
	movesHalfLife = 60
	// leastLevel and leastMove, as shares of the typical magnitude, keep a quiet stretch from dividing by nothing.
	leastLevel = 0.02
	leastMove  = 0.01
)

func newScales() scales {
	return scales{
		last: math.NaN(), keepLevel: math.Exp2(-1.0 / levelHalfLife), keepMoves: math.Exp2(-1.0 / movesHalfLife),
	}
}

func (s *scales) observe(y float64) {
	s.typical.add(math.Abs(y), s.keepLevel)
	if move := math.Abs(y - s.last); !math.IsNaN(move) {
		s.moves.add(move, s.keepMoves)
	}
	s.last = y
}

// level is the typical magnitude, never 0.
func (s *scales) level() float64 {
	level := s.typical.mean()
	if !(level > math.SmallestNonzeroFloat64*1e16) {
		return 1 // Zeros so far: any unit will do.
	}
	return level
}

// in is the unit of a kind for a forecast of a centre.
func (s *scales) in(kind int, centre float64) float64 {
	level := s.level()
	least := leastLevel * level
	switch kind {
	case squareRoot:
		return math.Sqrt(level) * math.Sqrt(math.Max(math.Abs(centre), least))
	case proportional:
		return math.Max(math.Abs(centre), least)
	case recent:
		move := math.Max(s.moves.mean(), leastMove*level)
		if math.IsNaN(move) {
			return level
		}
		return math.Sqrt(level) * math.Sqrt(move)
	default:
		return level
	}
}

// Package interval calibrates forecasts: it turns past forecast errors into quantiles with the right coverage, whatever
// the distribution of the errors.
//
// Scores keeps the recent errors (conformal scores) of one model at one horizon; its p-quantile, added to the next
// point forecast, is that forecast's p-quantile (split conformal inference: Vovk, Gammerman & Shafer 2005; on a sliding
// window for series, where exchangeability holds only roughly). Adaptive corrects the level by the coverage so far, so
// that the quantile follows a drift of the series (Gibbs & Candès 2021).
//
//	scores, adaptive := interval.NewScores(480), interval.NewAdaptive(0.95, 0.01)
//	upper := point + scores.Quantile(adaptive.Level(0.95))
//	… observe y …
//	adaptive.Record(y <= upper)
//	scores.Add(y - point)
//
// Errors that grow with the level are divided by it before they are added, and multiplied after.
package interval

import (
	"math"
	"slices"
)

// Scores is a sliding window of the newest scores, at hand in order of time and of size. Single precision halves the
// memory: a score needs no more. The zero Scores holds nothing; make it with NewScores.
type Scores struct {
	size   int
	ring   []float32
	oldest int
	// sorted are places in the ring, by their scores.
	sorted []uint16
}

// NewScores keeps the newest size scores, 1 ≤ size ≤ 65,536. It takes their memory with the first one: many forecasts are never scored.
func NewScores(size int) *Scores { return &Scores{size: min(size, 1<<16)} }

// Len is the number of scores held.
func (s *Scores) Len() int { return len(s.ring) }

// Add takes the newest score and drops the oldest when full. A score that is not finite is ignored.
func (s *Scores) Add(score float64) {
	v := float32(score)
	if math.IsNaN(score) || math.IsInf(float64(v), 0) {
		return
	}
	if s.ring == nil {
		s.ring, s.sorted = make([]float32, 0, s.size), make([]uint16, 0, s.size)
	}
	if n := len(s.ring); n < s.size {
		s.sorted = slices.Insert(s.sorted, s.rank(v), uint16(n)) //nolint:gosec // Less than the size.
		s.ring = append(s.ring, v)
		return
	}
	s.replace(v)
	s.oldest = (s.oldest + 1) % len(s.ring)
}

// Clone is an independent copy.
func (s *Scores) Clone() *Scores {
	c := *s
	c.ring = append(make([]float32, 0, s.size), s.ring...)
	c.sorted = append(make([]uint16, 0, s.size), s.sorted...)
	return &c
}

// replace puts v in the place of the oldest; what lies between the two moves by one.
func (s *Scores) replace(v float32) {
	place := uint16(s.oldest) //nolint:gosec // Less than the size.
	from, to := s.rank(s.ring[place]), s.rank(v)
	for s.sorted[from] != place { // Others are equal to it.
		from++
	}
	if to > from {
		to--
		copy(s.sorted[from:to], s.sorted[from+1:to+1])
	} else {
		copy(s.sorted[to+1:from+1], s.sorted[to:from])
	}
	s.ring[place], s.sorted[to] = v, place
}

// rank is how many scores are below v.
func (s *Scores) rank(v float32) int {
	low, high := 0, len(s.sorted)
	for low < high {
		if half := int(uint(low+high) / 2); s.ring[s.sorted[half]] < v {
			low = half + 1
		} else {
			high = half
		}
	}
	return low
}

// Quantile is the conformal p-quantile: the ⌈p(n+1)⌉-th smallest of n scores, so that a new score, exchangeable with
// them, stays within it with probability of at least p. Where that rank lies beyond the scores, the nearest one stands
// in: more scores are needed for a bound so far out. NaN without scores.
func (s *Scores) Quantile(p float64) float64 {
	n := len(s.sorted)
	if n == 0 {
		return math.NaN()
	}
	// The small term keeps p(n+1) that is a whole number but for rounding from being rounded up.
	rank := int(math.Ceil(p*float64(n+1) - 1e-9))
	return float64(s.ring[s.sorted[min(max(rank, 1), n)-1]])
}

// Quantile is the conformal p-quantile of sorted scores, by the line between the two nearest ranks; NaN without scores.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	rank := min(max(p*float64(n+1), 1), float64(n))
	low := int(rank)
	high := min(low+1, n)
	return sorted[low-1] + (rank-float64(low))*(sorted[high-1]-sorted[low-1])
}

// Adaptive keeps the long-run coverage of a quantile at its level p while the series drifts: each miss makes the next
// quantile more careful, each hit a little less (Gibbs & Candès 2021, "Adaptive conformal inference under distribution
// shift"). The zero Adaptive is not adapted; use NewAdaptive.
type Adaptive struct {
	miss  float64 // 1 − p, the wanted share of misses
	rate  float64
	alpha float64
}

// The share of misses that is aimed at stays within these multiples of the wanted one: without bounds a quiet month
// would take the quantile to the centre of the scores, just before the burst it is there for.
const (
	minAlpha = 0.25
	maxAlpha = 2
)

// NewAdaptive adapts the level p, 0 < p < 1, with the given rate: a miss moves the level by about that much. Sensible
// rates are 0.005 to 0.02.
func NewAdaptive(p, rate float64) Adaptive {
	return Adaptive{miss: 1 - p, rate: rate, alpha: 1 - p}
}

// Record takes whether an observation lay within the quantile that was given for it.
func (a *Adaptive) Record(within bool) {
	step := a.rate * a.miss
	if !within {
		step -= a.rate
	}
	a.alpha = min(max(a.alpha+step, minAlpha*a.miss), maxAlpha*a.miss)
}

// Level is the level to ask of Scores so that q is met: the wanted level becomes the adapted one, and the levels between
// the median, it and 1 stretch along. Increasing in q, so that quantiles never cross; the lower half is left alone.
func (a *Adaptive) Level(q float64) float64 {
	wanted, adapted := 1-a.miss, max(1-a.alpha, 0.5)
	switch {
	case q <= 0.5 || wanted <= 0.5:
		return q
	case q <= wanted:
		return 0.5 + (q-0.5)*(adapted-0.5)/(wanted-0.5)
	}
	return 1 - (1-q)*(1-adapted)/a.miss
}

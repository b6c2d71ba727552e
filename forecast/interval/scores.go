// Package interval calibrates forecasts: it turns past forecast errors into quantiles with the right coverage, for any distribution of the
// errors.
//
// Scores keeps the recent errors (conformal scores) of one model at one horizon. The p-quantile of the scores plus the next point forecast
// is the p-quantile of that forecast. This is split conformal inference (Vovk, Gammerman & Shafer 2005) on a sliding window, because the
// errors of a series are only roughly exchangeable. Adaptive corrects the level by the coverage so far, so that the quantile follows a
// drift of the series (Gibbs & Candès 2021).
//
//	scores, adaptive := interval.NewScores(480), interval.NewAdaptive(0.95, 0.01)
//	upper := point + scores.Quantile(adaptive.Level(0.95))
//	… observe y …
//	adaptive.Record(y <= upper)
//	scores.Add(y - point)
//
// If errors grow with the level of the series, divide them by the level before you add them, and multiply the quantile by the level.
package interval

import (
	"math"
	"slices"
)

// Scores is a sliding window of the newest scores, sorted by time and by size. Scores are stored in single precision, which is sufficient
// and halves the memory. The zero Scores is not usable; use NewScores.
type Scores struct {
	size   int
	ring   []float32
	oldest int
	// sorted are the positions in the ring, sorted by their scores.
	sorted []uint16
}

// NewScores returns empty Scores that keep the newest size scores, 1 ≤ size ≤ 65,536. Their memory is allocated with the first score,
// because many forecasts are never scored.
func NewScores(size int) *Scores { return &Scores{size: min(size, 1<<16)} }

// Len returns the number of stored scores.
func (s *Scores) Len() int { return len(s.ring) }

// Add adds the newest score, and drops the oldest one if the window is full. It ignores a score that is not finite.
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

// Clone returns an independent copy.
func (s *Scores) Clone() *Scores {
	c := *s
	c.ring = append(make([]float32, 0, s.size), s.ring...)
	c.sorted = append(make([]uint16, 0, s.size), s.sorted...)
	return &c
}

// replace replaces the oldest score with v. The sorted positions between the two scores move by one.
func (s *Scores) replace(v float32) {
	place := uint16(s.oldest) //nolint:gosec // Less than the size.
	from, to := s.rank(s.ring[place]), s.rank(v)
	for s.sorted[from] != place { // Other scores may be equal to it.
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

// rank returns the number of scores below v.
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

// Quantile returns the conformal p-quantile: the ⌈p(n+1)⌉-th smallest of n scores. If a new score is exchangeable with them, it is at most
// this quantile with a probability of at least p. If there is no score with that rank, Quantile returns the nearest score, because a bound
// so far out needs more scores. NaN if there are no scores.
func (s *Scores) Quantile(p float64) float64 {
	n := len(s.sorted)
	if n == 0 {
		return math.NaN()
	}
	// The small term prevents a p(n+1) that is a whole number, except for rounding errors, from being rounded up.
	rank := int(math.Ceil(p*float64(n+1) - 1e-9))
	return float64(s.ring[s.sorted[min(max(rank, 1), n)-1]])
}

// Quantile returns the conformal p-quantile of sorted scores, interpolated linearly between the two nearest ranks; NaN if there are no
// scores.
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

// Adaptive keeps the long-run coverage of a quantile at its level p while the series drifts. Each miss makes the next quantile more
// cautious, and each hit makes it slightly less cautious (Gibbs & Candès 2021, "Adaptive conformal inference under distribution shift").
// The zero Adaptive does not adapt; use NewAdaptive.
type Adaptive struct {
	miss  float64 // 1 − p, the wanted share of misses
	rate  float64
	alpha float64
}

// The adapted share of misses stays within these multiples of the requested one. Without bounds, a quiet month would move the quantile to
// the center of the scores, just before the burst for which it is needed.
const (
	minAlpha = 0.25
	maxAlpha = 2
)

// NewAdaptive returns an Adaptive for the level p, 0 < p < 1. A miss moves the level by about the rate. Useful rates are 0.005 to 0.02.
func NewAdaptive(p, rate float64) Adaptive {
	return Adaptive{miss: 1 - p, rate: rate, alpha: 1 - p}
}

// Record records whether an observation was within the quantile that was forecast for it.
func (a *Adaptive) Record(within bool) {
	step := a.rate * a.miss
	if !within {
		step -= a.rate
	}
	a.alpha = min(max(a.alpha+step, minAlpha*a.miss), maxAlpha*a.miss)
}

// Level returns the level to request from Scores so that the coverage is q. It maps p to the adapted level, and stretches the levels
// between the median, p and 1 accordingly. It increases with q, so that quantiles never cross. It does not change levels below the median.
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

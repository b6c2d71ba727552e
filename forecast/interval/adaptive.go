package interval

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
	leastAlpha = 0.25
	mostAlpha  = 2
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
	a.alpha = min(max(a.alpha+step, leastAlpha*a.miss), mostAlpha*a.miss)
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

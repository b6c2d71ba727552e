package ensemble

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast/interval"
)

// target is the value at a horizon, forecast with quantiles.
type target struct {
	steps  int
	levels []float64
	gauges [unitCount]gauge
	// shares are the weights of the gauges, by the pinball loss of their quantiles.
	shares [unitCount]float64
	losses [unitCount]record
	keep   float64
	// errors are the trailing magnitude of the errors.
	errors record
	// open holds, for the origins whose truth is not known yet, the forecast and each gauge's unit. at is the oldest
	// once it is full.
	open []slip
	at   int
	full bool
	// every is how many origins go by between two whose errors are looked at: consecutive ones tell nearly the same.
	every, tick int
}

// gauge is the errors in a unit.
type gauge struct {
	// size is the unit's at the origin.
	size   float64
	scores *interval.Scores
}

// slip is what is kept for an origin.
type slip struct {
	point float64
	sizes [unitCount]float64
}

const (
	// fewest errors with which a quantile is calibrated.
	fewest = 40
	// fewIndependent is how many independent errors weigh as much as what the members expect of themselves.
	fewIndependent = 20
)

func newTarget(steps int, levels []float64, ring, every int, keep float64) target {
	t := target{steps: steps, levels: levels, keep: keep, every: every, open: make([]slip, steps)}
	for i := range t.gauges {
		t.gauges[i].scores = interval.NewScores(ring)
	}
	t.shares[0] = 1
	return t
}

// resolve takes what came for the oldest open origin, NaN where it is not known.
func (t *target) resolve(came float64) {
	if !t.full || math.IsNaN(came) {
		return
	}
	made := &t.open[t.at]
	t.errors.add(math.Abs(came-made.point), t.keep)
	t.tick++
	if t.tick%t.every != 0 && t.calibrated() {
		return
	}
	for i := range t.gauges {
		g := &t.gauges[i]
		score := (came - made.point) / made.sizes[i]
		if g.scores.Len() >= fewest/2 {
			t.losses[i].add(made.sizes[i]*g.loss(t.levels, score), t.keep)
		}
		g.scores.Add(score)
	}
	weigh(t.shares[:], t.losses[:], t.steps, sharpestGauge)
}

// loss is the pinball loss of the quantiles of the scores, summed over the levels (Koenker & Bassett 1978).
func (g *gauge) loss(levels []float64, score float64) float64 {
	sum := 0.0
	for _, p := range levels {
		d := score - g.scores.Quantile(p)
		sum += max(p*d, (p-1)*d)
	}
	return sum
}

// aim takes the forecast of an origin.
func (t *target) aim(s *scales, point float64) {
	for i := range t.gauges {
		t.gauges[i].size = s.in(unit(i), point, t.steps)
	}
}

// file keeps what was aimed at until the truth is known.
func (t *target) file(point float64) {
	made := &t.open[t.at]
	made.point = point
	for i := range t.gauges {
		made.sizes[i] = t.gauges[i].size
	}
	t.at++
	if t.at == t.steps {
		t.at, t.full = 0, true
	}
}

func (t *target) calibrated() bool { return t.gauges[0].scores.Len() >= fewest }

// shape is the p-quantile of an error in standard deviations: half way between a Gaussian's and that of the errors made,
// which are of heavy tails or to one side. It is asked of the nearest horizon, whose errors are independent, for all.
func (t *target) shape(p float64) float64 {
	z := distuv.UnitNormal.Quantile(p)
	if deviation := t.deviation(); t.calibrated() && deviation > 0 {
		return (z + t.observed(p)/deviation) / 2
	}
	return z
}

// deviation is the standard deviation of a Gaussian whose mean magnitude is that of the errors.
func (t *target) deviation() float64 { return math.Sqrt(math.Pi/2) * t.errors.mean() }

// spread is how far the p-quantile lies from the forecast. A few errors of forecasts that overlap, all on one side, tell
// of that time and not of the next: the fewer of them are independent, the more it is a distribution of the given shape,
// whose deviation is the geometric mean of the errors' and of the members' by their own account. It does not decrease in p.
func (t *target) spread(p, shape, account float64) float64 {
	if !t.calibrated() {
		return account * distuv.UnitNormal.Quantile(p)
	}
	deviation := t.deviation()
	if account > 0 && !math.IsInf(account, 1) {
		deviation = math.Sqrt(deviation) * math.Sqrt(account)
	}
	independent := float64(t.gauges[0].scores.Len()*t.every) / float64(t.steps)
	observed := t.observed(p)
	return observed + fewIndependent/(fewIndependent+independent)*(deviation*shape-observed)
}

// observed is the mean of the middle half of the gauges' quantiles, by their shares: a gauge that went astray after an
// outage has no say. Like each of them it does not decrease in p.
func (t *target) observed(p float64) float64 {
	var values, shares [unitCount]float64
	n := 0
	for i, share := range t.shares {
		if share == 0 {
			continue
		}
		v := t.gauges[i].size * t.gauges[i].scores.Quantile(p)
		at := n
		for ; at > 0 && values[at-1] > v; at-- {
			values[at], shares[at] = values[at-1], shares[at-1]
		}
		values[at], shares[at] = v, share
		n++
	}
	return middle(values[:n], shares[:n])
}

// middle is the mean of the middle half of a distribution: ascending values with their shares.
func middle(values, shares []float64) float64 {
	sum, below := 0.0, 0.0
	for i, v := range values {
		above := below + shares[i]
		sum += 2 * v * max(0, min(above, 0.75)-max(below, 0.25))
		below = above
	}
	return sum
}

// clone is a copy that gives quantiles and takes no more errors.
func (t *target) clone() target {
	out := *t
	for i := range out.gauges {
		out.gauges[i].scores = out.gauges[i].scores.Clone()
	}
	out.open = nil
	return out
}

package ensemble

import (
	"math"

	"github.com/forewarm/forewarm/forecast/interval"
)

// target is a quantity that is forecast with quantiles: the value at a horizon, or the maximum up to it.
type target struct {
	steps  int
	levels []float64
	// gauges measure the errors in different units, around different centres.
	gauges []gauge
	// shares are the weights of the gauges, by the pinball loss of their quantiles.
	shares []float64
	losses []record
	keep   float64
	// open holds, for the origins whose truth is not known yet, each gauge's centre and unit, and the bound at the top
	// level that was given. Single precision is enough to score with.
	open []float32
	at   int
	full bool
	// adaptive keeps the coverage of the top level.
	adaptive interval.Adaptive
	covered  record
	// every is how many origins go by between two whose errors are kept: consecutive ones tell nearly the same.
	every, tick int
	// analytic is the standard error by the models' own account, until the errors are enough.
	analytic float64
}

// gauge is the errors around a centre in a unit.
type gauge struct {
	kind   int
	ofMax  bool // around the running maximum, not the forecast
	centre float64
	unit   float64
	scores *interval.Scores
}

const (
	// fewest errors with which a quantile is calibrated.
	fewest = 40
	// adaptRate is the step of the adaptive level.
	adaptRate = 0.01
)

func newTarget(steps int, levels []float64, size, every int, keep float64) target {
	t := target{steps: steps, levels: levels, keep: keep, every: every}
	for kind := range unitCount {
		t.gauges = append(t.gauges, gauge{kind: kind, scores: interval.NewScores(size)})
	}
	t.gauges = append(t.gauges, gauge{kind: recent, ofMax: true, scores: interval.NewScores(size)})
	t.shares, t.losses = make([]float64, len(t.gauges)), make([]record, len(t.gauges))
	t.shares[0] = 1
	t.open = make([]float32, steps*t.width())
	t.adaptive = interval.NewAdaptive(levels[len(levels)-1], adaptRate)
	return t
}

// width of what is kept for an origin.
func (t *target) width() int { return 2*len(t.gauges) + 1 }

// resolve takes what came for the origin that lies steps back; NaN where it is not known.
func (t *target) resolve(came float64) {
	slip := t.open[t.at*t.width() : (t.at+1)*t.width()]
	if !t.full || math.IsNaN(came) || math.IsNaN(float64(slip[0])) {
		return
	}
	if bound := float64(slip[len(slip)-1]); !math.IsNaN(bound) {
		within := came <= bound
		t.adaptive.Record(within)
		t.covered.add(indicator(within), t.keep)
	}
	t.tick++
	kept := t.every <= 1 || t.tick%t.every == 0 || t.gauges[0].scores.Len() < fewest
	for i := range t.gauges {
		g := &t.gauges[i]
		centre, unit := float64(slip[2*i]), float64(slip[2*i+1])
		score := (came - centre) / unit
		if g.scores.Len() >= fewest/2 {
			t.losses[i].add(unit*g.loss(t.levels, score), t.keep)
		}
		if kept {
			g.scores.Add(score)
		}
	}
	if kept {
		weigh(t.shares, t.losses)
	}
}

// loss is the pinball loss of the quantiles of the scores (Koenker & Bassett 1978).
func (g *gauge) loss(levels []float64, score float64) float64 {
	sum := 0.0
	for _, p := range levels {
		d := score - g.scores.Quantile(p)
		sum += math.Max(p*d, (p-1)*d)
	}
	return sum
}

// aim takes the centres of an origin: the forecast of the quantity and the running maximum.
func (t *target) aim(s *scales, point, highest float64) {
	for i := range t.gauges {
		g := &t.gauges[i]
		g.centre = point
		if g.ofMax {
			g.centre = highest
		}
		g.unit = s.in(g.kind, g.centre)
	}
}

// file keeps what was aimed at until the truth is known.
func (t *target) file() {
	slip := t.open[t.at*t.width() : (t.at+1)*t.width()]
	for i := range t.gauges {
		slip[2*i], slip[2*i+1] = float32(t.gauges[i].centre), float32(t.gauges[i].unit)
	}
	slip[len(slip)-1] = float32(math.NaN())
	if t.calibrated() {
		slip[len(slip)-1] = float32(t.quantile(t.levels[len(t.levels)-1]))
	}
	t.at++
	if t.at == t.steps {
		t.at, t.full = 0, true
	}
}

func (t *target) calibrated() bool { return t.gauges[0].scores.Len() >= fewest }

// quantile is the mean of the gauges' quantiles by their shares, which like each of them does not decrease in p.
func (t *target) quantile(p float64) float64 {
	level := t.adaptive.Level(p)
	sum := 0.0
	for i, share := range t.shares {
		if share > 0 {
			g := &t.gauges[i]
			sum += share * (g.centre + g.unit*g.scores.Quantile(level))
		}
	}
	return sum
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

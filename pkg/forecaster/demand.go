package forecaster

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/repair"
)

// demand is what was observed: the current value, the recent past for labels, and the two scales of the series.
type demand struct {
	step time.Duration
	// raw holds the samples that a rate is averaged over.
	raw *ring
	// recent holds the demand of the longest horizon.
	recent *ring
	// observed is the newest demand that is known; it holds on over gaps.
	observed float64
	// level is the mean over about a day, typical the mean of the history it began with.
	level   decayed
	typical float64
	// moves is the mean over about two hours of how far the window's maximum went from the demand before it.
	moves decayed
}

const (
	// levelHalfLife and movesHalfLife are in parts of a season: half a day, and two hours of it.
	levelHalfLife = 2
	movesHalfLife = 12
	// leastMove is the least move, as a share of the typical level. Without it a quiet stretch would divide by next to
	// nothing, and the scores of its end would explode.
	leastMove = 0.01
)

func newDemand(c Config, reach int, typical float64) demand {
	return demand{
		step: c.Step, raw: newRing(c.average()), recent: newRing(reach), observed: math.NaN(), typical: typical,
		level: newDecayed(c.cycle()/levelHalfLife, c.Step), moves: newDecayed(c.cycle()/movesHalfLife, c.Step),
	}
}

// observe takes a sample and gives the demand: NaN for a gap. A suspect leaves no hole in the windows that it lies in: their
// maxima are those of their other samples.
func (d *demand) observe(sample repair.Sample) float64 {
	d.raw.push(sample.Value)
	now := d.raw.mean()
	switch {
	case sample.Cause == repair.Suspect:
		d.recent.push(d.observed)
		return math.NaN()
	case math.IsNaN(sample.Value):
		now = math.NaN()
	}
	d.recent.push(now)
	if !math.IsNaN(now) {
		d.observed = now
		d.level.add(now)
	}
	return now
}

// scale is the unit of scores at this step: the geometric mean of how far the demand moves within a window these hours
// and of its typical level. Moves alone would answer one burst with hours of far too much (on recorded request rates the
// mean of the two loses 1 to 4 % less in four of six cases, 4 to 7 % more in two), the level alone would not answer.
func (d *demand) scale() float64 {
	typical := math.Max(d.typical, d.level.mean())
	if !(typical > 0) {
		typical = 1 // Nothing but zeros: any unit will do, and 1 keeps the first burst's score bounded.
	}
	return math.Sqrt(typical * math.Max(d.moves.mean(), leastMove*typical))
}

// ring is a bounded window of the newest values.
type ring struct {
	values []float64
	next   int
	full   bool
}

func newRing(size int) *ring { return &ring{values: make([]float64, size)} }

func (r *ring) push(v float64) {
	r.values[r.next] = v
	r.next++
	if r.next == len(r.values) {
		r.next, r.full = 0, true
	}
}

func (r *ring) len() int {
	if r.full {
		return len(r.values)
	}
	return r.next
}

// ago is the value pushed n pushes before the newest.
func (r *ring) ago(n int) float64 {
	i := r.next - 1 - n
	if i < 0 {
		i += len(r.values)
	}
	return r.values[i]
}

// mean is that of the values that are not gaps; NaN where all are.
func (r *ring) mean() float64 {
	sum, n := 0.0, 0
	for i := range r.len() {
		if v := r.values[i]; !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// maximaTo writes the maximum over the newest horizons[j] values to dst[j], NaN where a gap or the beginning of the
// series lies within them: such a window's maximum is not known. Horizons ascend.
func (r *ring) maximaTo(dst []float64, horizons []int) {
	highest, n := math.Inf(-1), 0
	for j, h := range horizons {
		for ; n < h && !math.IsNaN(highest); n++ {
			if n >= r.len() {
				highest = math.NaN()
				break
			}
			highest = math.Max(highest, r.ago(n)) // math.Max is NaN where either is.
		}
		dst[j] = highest
	}
}

// decayed is a mean whose weights halve with every half-life; it has no bias at its beginning.
type decayed struct {
	keep        float64
	sum, weight float64
}

func newDecayed(halfLife, step time.Duration) decayed {
	return decayed{keep: math.Exp2(-float64(step) / float64(halfLife))}
}

func (d *decayed) add(v float64) {
	d.sum = d.keep*d.sum + v
	d.weight = d.keep*d.weight + 1
}

// mean is NaN before the first value.
func (d *decayed) mean() float64 { return d.sum / d.weight }

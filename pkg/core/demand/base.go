package demand

import (
	"math"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// separateTimes is the number of separate times at which a level must be reached to be credible, if it does not last.
const separateTimes = 3

// base is the highest credible level of a demand: one that lasted the corroboration time, or was reached at three
// separate times. It is computed from raw samples and never falls.
//
// Example, with steps of 30 s and a corroboration time of 2 minutes: the demand 100, 900, 900, 900, 900, 900 has a base of 900 from its
// last sample on, because the five samples of 900 span two minutes. The demand 100, 900, 100 has a base of 100 until 900 is reached twice
// more, each time more than two minutes after the time before.
type base struct {
	// lasting is the negated minimum of the newest samples that span the corroboration time. span is the number of steps that they span,
	// and known is their number so far.
	lasting *series.TrailingMax
	span    int
	known   int
	gap     int
	peaks   peaks
	level   float64
}

func newBase(corroboration int) base {
	return base{
		lasting: series.NewTrailingMax(corroboration + 1), span: corroboration + 1,
		peaks: peaks{apart: corroboration},
	}
}

// add adds the raw sample of a step, NaN for a gap. A gap as long as the corroboration time ends a level.
func (b *base) add(step int, v float64) {
	if math.IsNaN(v) {
		b.gap++
		if b.gap == b.span {
			b.lasting, b.known = series.NewTrailingMax(b.span), 0
		}
		return
	}
	b.gap = 0
	b.known = min(b.known+1, b.span)
	if lowest := -b.lasting.Push(-v); b.known == b.span {
		b.level = math.Max(b.level, lowest)
	}
	b.peaks.add(step, v)
	b.level = math.Max(b.level, b.peaks.values[separateTimes-1])
}

// peaks are the highest samples at separate times, the highest first. A sample within `apart` steps of an earlier peak belongs to the same
// time, because one bad scrape can affect the samples for that long.
type peaks struct {
	apart  int
	values [separateTimes]float64
	steps  [separateTimes]int
}

func (p *peaks) add(step int, v float64) {
	at := separateTimes - 1
	for i := range p.values {
		if p.values[i] > 0 && step-p.steps[i] <= p.apart {
			at = i
			break
		}
	}
	if v <= p.values[at] {
		return
	}
	for ; at > 0 && p.values[at-1] < v; at-- {
		p.values[at], p.steps[at] = p.values[at-1], p.steps[at-1]
	}
	p.values[at], p.steps[at] = v, step
}

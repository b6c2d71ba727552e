package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// flags store for the newest steps of a series whether it was above 0, one bit each. A gap is not above 0.
type flags struct {
	step time.Duration
	// bits of the steps since the epoch, modulo the number of bits.
	bits []uint64
	end  int64
}

// newFlags returns flags of at least so many steps, 1 or more.
func newFlags(step time.Duration, size int) *flags {
	return &flags{step: step, bits: make([]uint64, (size+63)/64)}
}

// newestEnd returns the time after the newest step; zero before the first block.
func (f *flags) newestEnd() time.Time {
	if f.end == 0 {
		return time.Time{}
	}
	return time.Unix(0, f.end*int64(f.step)).UTC()
}

// at reports whether the series was above 0 at a step; false where the step is not stored.
func (f *flags) at(t time.Time) bool {
	i := t.UnixNano() / int64(f.step)
	if i >= f.end || i < f.end-f.size() {
		return false
	}
	word, bit := f.place(i)
	return *word&bit != 0
}

// add adds the values that follow, and replaces those that are stored, as far as they are known now; steps before the block
// are not above 0. It returns the oldest step that at would have answered differently before; zero if there is none. A block on
// another grid is refused with forecast.ErrParameter.
func (f *flags) add(block forecast.Series) (changed time.Time, err error) {
	if block.Step != f.step || block.Start.UnixNano()%int64(f.step) != 0 {
		return changed, fmt.Errorf("series: a block at %s with step %s on a grid of %s: %w",
			block.Start, block.Step, f.step, forecast.ErrParameter)
	}
	first := block.Start.UnixNano() / int64(f.step)
	f.end = max(f.end, first-f.size())
	for ; f.end < first; f.end++ {
		f.set(f.end, false)
	}
	for i, v := range block.Values {
		at, on := block.TimeAt(i), v > 0
		step := first + int64(i)
		stored := step < f.end
		if step < f.end-f.size() || stored && math.IsNaN(v) {
			continue
		}
		if changed.IsZero() && on != f.at(at) {
			changed = at
		}
		f.set(step, on)
		f.end = max(f.end, step+1)
	}
	return changed, nil
}

func (f *flags) set(step int64, on bool) {
	word, bit := f.place(step)
	*word &^= bit
	if on {
		*word |= bit
	}
}

func (f *flags) size() int64 { return 64 * int64(len(f.bits)) }

// place returns the position of a step's bit.
func (f *flags) place(step int64) (word *uint64, bit uint64) {
	i := step % f.size()
	return &f.bits[i/64], 1 << (i % 64)
}

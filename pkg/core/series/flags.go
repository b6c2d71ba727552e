package series

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Flags remembers of the newest steps of a series whether it was above 0, in a bit each. A gap is not.
type Flags struct {
	step time.Duration
	// bits of the steps since the epoch, modulo their number.
	bits []uint64
	end  int64
}

// NewFlags keeps at least so many steps, 1 or more.
func NewFlags(step time.Duration, size int) *Flags {
	return &Flags{step: step, bits: make([]uint64, (size+63)/64)}
}

// End is the step after the newest one. Zero before the first block.
func (f *Flags) End() time.Time {
	if f.end == 0 {
		return time.Time{}
	}
	return time.Unix(0, f.end*int64(f.step)).UTC()
}

// At says whether the series was above 0 at a step; false where that is not held.
func (f *Flags) At(t time.Time) bool {
	i := t.UnixNano() / int64(f.step)
	if i >= f.end || i < f.end-f.size() {
		return false
	}
	word, bit := f.place(i)
	return *word&bit != 0
}

// Append takes the values that follow: what is held already stays, and what lies between is not above 0. A block on another
// grid is refused with forecast.ErrParameter.
func (f *Flags) Append(block forecast.Series) error {
	if block.Step != f.step || block.Start.UnixNano()%int64(f.step) != 0 {
		return fmt.Errorf("series: a block at %s with step %s on a grid of %s: %w",
			block.Start, block.Step, f.step, forecast.ErrParameter)
	}
	first := block.Start.UnixNano() / int64(f.step)
	f.end = max(f.end, first-f.size())
	for f.end < first {
		f.push(false)
	}
	for _, v := range block.Values[min(f.end-first, int64(len(block.Values))):] {
		f.push(v > 0)
	}
	return nil
}

func (f *Flags) push(on bool) {
	word, bit := f.place(f.end)
	*word &^= bit
	if on {
		*word |= bit
	}
	f.end++
}

func (f *Flags) size() int64 { return 64 * int64(len(f.bits)) }

// place is where the bit of a step is.
func (f *Flags) place(step int64) (word *uint64, bit uint64) {
	i := step % f.size()
	return &f.bits[i/64], 1 << (i % 64)
}

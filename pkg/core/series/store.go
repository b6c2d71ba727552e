package series

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// MaxSample is the largest sample. A larger one cannot be demand and would not fit the milli-units of Kubernetes
// metrics.
const MaxSample = 1e15

// Store stores the newest samples of one workload's demand on the grid of its step. Single precision is sufficient for demand and halves the
// memory. The newest samples are directly accessible. Older samples, which are read only once in several hours, are packed.
type Store struct {
	step time.Duration
	size int
	// older are blocks of packSize samples, the oldest first; newest follows them.
	older  []packed
	newest []float32
	end    time.Time
}

// NewStore stores the newest size steps, size ≥ 1. Memory grows with the stored steps.
func NewStore(step time.Duration, size int) *Store { return &Store{step: step, size: size} }

// End returns the time after the newest step, where the next sample belongs; zero while the store is empty.
func (s *Store) End() time.Time { return s.end }

// Start returns the time of the oldest stored step.
func (s *Store) Start() time.Time { return s.end.Add(-time.Duration(s.len()) * s.step) }

// held returns the number of samples in memory, and len returns how many of them are in use.
func (s *Store) held() int { return len(s.older)*packSize + len(s.newest) }
func (s *Store) len() int  { return min(s.held(), s.size) }

// Fault is why a sample cannot be demand.
type Fault uint8

// The faults of samples. A gap is not a sample and has no fault.
const (
	NoFault Fault = iota
	Negative
	Infinite
	Huge
	NotANumber
	faults
)

// storedNaN is a NaN that the source returned as the value of a sample. Every other NaN is a gap.
const storedNaN = 0x7ff8_0000_0000_dead

// Stored returns the value of a sample of a source. It marks NaN, so that a query that divides 0 by 0 can be distinguished from a query
// without a sample.
func Stored(v float64) float64 {
	if math.IsNaN(v) {
		return math.Float64frombits(storedNaN)
	}
	return v
}

// FaultOf returns why a value of a source cannot be demand.
func FaultOf(v float64) Fault {
	switch {
	case math.IsInf(v, 0):
		return Infinite
	case v < 0:
		return Negative
	case v > MaxSample:
		return Huge
	case math.Float64bits(v) == storedNaN:
		return NotANumber
	}
	return NoFault
}

// Dropped counts samples that cannot be demand and became gaps, by their fault.
type Dropped [faults]int

// Any reports whether a sample was dropped.
func (d Dropped) Any() bool { return d != (Dropped{}) }

// CleanSample returns a sample, or NaN if it cannot be demand. d counts such samples.
func CleanSample(v float64, d *Dropped) float64 {
	if f := FaultOf(v); f != NoFault {
		d[f]++
		return math.NaN()
	}
	return v
}

// words describe a fault briefly and in full, and say what causes a query to return such samples.
func (f Fault) words() (word, words, cause string) {
	switch f {
	case Negative:
		return "negative", "negative", "a subtraction or a delta()"
	case Infinite:
		return "infinite", "infinite", "a division by 0"
	case Huge:
		return "above 1e15", "above 1e15, the largest demand that Forewarm accepts", "a wrong unit" // MaxSample
	case NotANumber:
		return "not a number (NaN)", "not a number (NaN)", "a division of 0 by 0"
	case NoFault, faults:
	}
	return "", "", ""
}

// String describes the dropped samples, and says how Forewarm treats them.
func (d Dropped) String() string {
	return d.describe("1 sample", "%d samples") + "; Forewarm treats such samples as gaps"
}

// Newest describes samples that are newer than every demand.
func (d Dropped) Newest() string { return d.describe("the newest sample", "the newest %d samples") }

// describe says what is wrong with the samples. The subject depends on their number: "2 samples are infinite: check the query for
// a division by 0".
func (d Dropped) describe(one, several string) string {
	count, what := 0, ""
	var kinds, causes []string
	for f, n := range d {
		if n == 0 {
			continue
		}
		word, words, cause := Fault(f).words()
		count, what = count+n, words
		kinds, causes = append(kinds, fmt.Sprintf("%d %s", n, word)), append(causes, "for "+cause)
	}
	if len(kinds) > 1 {
		what = "not valid demand (" + strings.Join(kinds, ", ") + ")"
	}
	subject := one + " is "
	if count != 1 {
		subject = fmt.Sprintf(several, count) + " are "
	}
	return subject + what + ": check the query " + strings.Join(causes, " and ")
}

// Appended describes how a block of samples changed the stored samples.
type Appended struct {
	// Dropped counts the dropped samples of the new steps.
	Dropped Dropped
	// Changed is the oldest step whose sample is new or different; Grown is the oldest step whose sample increased. Both are zero if there
	// is no such step.
	Changed, Grown time.Time
}

// equalShare is the relative difference up to which two samples are equal, because a source may add up the same numbers in another order.
const equalShare = 1e-6

// Append adds new samples and replaces stored samples, because a source may have added to them. It never replaces a known sample with a gap.
// A hole before the block becomes a gap. A sample that cannot be demand becomes NaN and is counted. A block on another grid is rejected with
// forecast.ErrParameter.
func (s *Store) Append(block forecast.Series) (Appended, error) {
	var out Appended
	if block.Step != s.step || block.Start.UnixNano()%int64(s.step) != 0 {
		return out, fmt.Errorf("series: block at %s with step %s does not match the grid of %s: %w",
			block.Start, block.Step, s.step, forecast.ErrParameter)
	}
	if s.end.IsZero() {
		s.end = block.Start
	}
	s.skipTo(block.Start)
	ago := max(steps(s.end.Sub(block.Start), s.step), 0)
	known := min(ago, len(block.Values))
	if known > 0 {
		s.unpack(min(ago, s.len()))
	}
	for i, v := range block.Values[:known] {
		s.replace(block.TimeAt(i), v, &out)
	}
	for _, v := range block.Values[known:] {
		s.push(float32(CleanSample(v, &out.Dropped)))
	}
	s.pack()
	return out, nil
}

// replace replaces a stored sample that is not packed.
func (s *Store) replace(at time.Time, v float64, out *Appended) {
	ago := int(s.end.Sub(at) / s.step)
	v = CleanSample(v, new(Dropped))
	if math.IsNaN(v) || ago > s.len() {
		return
	}
	stored := &s.newest[len(s.newest)-ago]
	before := float64(*stored)
	*stored = float32(v)
	if math.Abs(v-before) <= equalShare*before {
		return
	}
	if out.Changed.IsZero() {
		out.Changed = at
	}
	if out.Grown.IsZero() && v > before {
		out.Grown = at
	}
}

// skipTo adds gaps up to t. If the hole is longer than the store, it empties the store.
func (s *Store) skipTo(t time.Time) {
	if t.Sub(s.end) > time.Duration(s.size)*s.step {
		s.older, s.newest = nil, nil
		s.end = t
		return
	}
	for s.end.Before(t) {
		s.push(float32(math.NaN()))
	}
}

func (s *Store) push(v float32) {
	s.newest = append(s.newest, v)
	s.end = s.end.Add(s.step)
}

// pack packs all samples except the newest ones, and drops samples that are no longer in use.
func (s *Store) pack() {
	at := 0
	for ; len(s.newest)-at >= 2*packSize; at += packSize {
		s.older = append(s.older, pack(s.newest[at:at+packSize]))
	}
	if whole := min((s.held()-at-s.size)/packSize, len(s.older)); whole > 0 {
		s.older = slices.Delete(s.older, 0, whole)
	}
	if len(s.older) == 0 {
		at = max(at, len(s.newest)-s.size)
	}
	if at > 0 { // A new array, to free the memory of a long block.
		s.newest = append(make([]float32, 0, 2*packSize), s.newest[at:]...)
	}
}

// unpack makes at least the newest n samples directly accessible.
func (s *Store) unpack(n int) {
	if n <= len(s.newest) {
		return
	}
	first := len(s.older) - (n-len(s.newest)+packSize-1)/packSize
	all := make([]float32, 0, (len(s.older)-first)*packSize+len(s.newest))
	for _, block := range s.older[first:] {
		all = block.appendTo(all)
	}
	s.newest, s.older = append(all, s.newest...), s.older[:first]
}

// Range returns a copy of the stored samples of [from, to).
func (s *Store) Range(from, to time.Time) forecast.Series {
	start := s.Start()
	i := min(max(steps(from.Sub(start), s.step), 0), s.len())
	j := min(max(steps(to.Sub(start), s.step), i), s.len())
	out := forecast.Series{
		Start: start.Add(time.Duration(i) * s.step), Step: s.step, Values: make([]float64, 0, j-i),
	}
	surplus := s.held() - s.len()
	i, j = i+surplus, j+surplus
	var room []float32
	for at := i; at < j; {
		block, first := s.newest, len(s.older)*packSize
		if of := at / packSize; of < len(s.older) {
			room = s.older[of].appendTo(room[:0])
			block, first = room, of*packSize
		}
		for _, v := range block[at-first : min(j-first, len(block))] {
			out.Values = append(out.Values, float64(v))
			at++
		}
	}
	return out
}

// steps returns d in steps, rounded up, so that a range that starts between two steps starts at the later one.
func steps(d, step time.Duration) int {
	n := int(d / step)
	if d%step > 0 {
		n++
	}
	return n
}

// NewestSample returns the time of the newest step that is not a gap; ok is false if all steps are gaps.
func (s *Store) NewestSample() (at time.Time, ok bool) {
	back := 0
	for block, of := s.newest, len(s.older); ; {
		for i := len(block) - 1; i >= 0 && back < s.len(); i-- {
			back++
			if !math.IsNaN(float64(block[i])) {
				return s.end.Add(-time.Duration(back) * s.step), true
			}
		}
		of--
		if of < 0 {
			return time.Time{}, false
		}
		block = s.older[of].appendTo(nil)
	}
}

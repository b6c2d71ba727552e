package series

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Newest is the newest sample of a history, and the faults of the samples after it. The sample has double precision, unlike the samples of
// a Store.
type Newest struct {
	At    time.Time
	Value float64
	// faults are the faults of the steps from first on. Other steps have no faults.
	first  time.Time
	faults []Fault
}

// Note records the newest sample of a block that can be demand, if there is one, and the faults of the samples after it. A block replaces
// what was recorded for its steps. Note keeps the faults of at most limit steps.
func (s *Newest) Note(block forecast.Series, limit int) {
	newest := -1
	for i, v := range slices.Backward(block.Values) {
		if v = CleanSample(v, new(Dropped)); !math.IsNaN(v) {
			*s, newest = Newest{At: block.TimeAt(i), Value: v}, i
			break
		}
	}
	if before := int(block.Start.Sub(s.first) / block.Step); before < len(s.faults) {
		s.faults = s.faults[:max(before, 0)]
	}
	for i := newest + 1; i < block.Len(); i++ {
		fault := FaultOf(block.Values[i])
		if fault == NoFault {
			continue
		}
		at := block.TimeAt(i)
		if len(s.faults) == 0 || at.Sub(s.first) > 2*time.Duration(limit)*block.Step {
			s.first, s.faults = at, nil
		}
		for at.Sub(s.first) > time.Duration(len(s.faults))*block.Step {
			s.faults = append(s.faults, NoFault)
		}
		s.faults = append(s.faults, fault)
	}
	if surplus := len(s.faults) - limit; surplus > 0 {
		s.first, s.faults = s.first.Add(time.Duration(surplus)*block.Step), s.faults[surplus:]
	}
}

// Dropped counts the samples after a time that cannot be demand. It counts none if the newest of these samples is older than maxAge at the
// end of the samples. The source then has no samples at all any more, which is another problem.
func (s *Newest) Dropped(after, end time.Time, step, maxAge time.Duration) (d Dropped) {
	last := s.first.Add(time.Duration(len(s.faults)) * step)
	if end.Sub(last) > maxAge {
		return d
	}
	for i, fault := range s.faults {
		if fault != NoFault && s.first.Add(time.Duration(i)*step).After(after) {
			d[fault]++
		}
	}
	return d
}

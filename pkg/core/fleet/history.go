package fleet

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// Cell is the grid of the history.
const Cell = 5 * time.Minute

// cellsPerDay is the number of cells of a day.
const cellsPerDay = int(24 * time.Hour / Cell)

const (
	// minHistory is how much history a member needs: a day to compare with, and a day on which the margin is measured. A member with less
	// counts with all replicas that it may have.
	minHistory = 2 * cellsPerDay
	// maxHistory is how much history is used: the week that is replayed, and the week before, with which it is compared.
	maxHistory = 14 * cellsPerDay
)

// HistoryLength is how much history a plan uses.
const HistoryLength = time.Duration(maxHistory) * Cell

// history are the GPUs that members together asked for, in cells. The last cell ended at end.
type history struct {
	end  time.Time
	gpus []float64
}

// cellsOf returns the GPUs that a member asked for in each cell before end, oldest first, at most maxHistory. It begins with the first
// known value. In a gap, the value before it continues, because an autoscaler without a metric keeps its replicas. If the member asked for
// more a day before, that counts, so that a gap does not hide a ramp. Cells after the newest value are no gap yet.
func cellsOf(m *Member, end time.Time) []float64 {
	s := &m.ServedPeaks
	if s.Step <= 0 || s.Len() == 0 {
		return nil
	}
	// A value is the highest of the step that ends at its time.
	from := s.Start.Add(-s.Step)
	n := min(max(int(end.Sub(from)/Cell), 0), maxHistory)
	highest := maxima(s, end.Add(-time.Duration(n)*Cell), n)
	out := make([]float64, 0, n)
	value, last := math.NaN(), math.NaN()
	newest := len(highest) - 1
	for newest >= 0 && math.IsNaN(highest[newest]) {
		newest--
	}
	for i, high := range highest {
		if high >= 0 && high != value {
			value, last = high, m.gpus(high)
		}
		cell := last
		if ago := len(out) - cellsPerDay; math.IsNaN(high) && ago >= 0 && i < newest {
			cell = math.Max(last, out[ago])
		}
		if !math.IsNaN(cell) {
			out = append(out, cell)
		}
	}
	return out
}

// since returns when the history of a member begins: with the first known value that is used. It is the end if there is none.
func (m *Member) since(end time.Time) time.Time {
	s := &m.ServedPeaks
	if s.Step <= 0 {
		return end
	}
	for i := max(int(end.Add(-HistoryLength).Sub(s.Start)/s.Step)+1, 0); i < s.Len(); i++ {
		if v := s.Values[i]; v >= 0 && v <= maxDemand {
			return s.Start.Add(time.Duration(i-1) * s.Step)
		}
	}
	return end
}

// maxima returns the highest valid values of the steps that overlap each of n cells from a time on; NaN if there is none.
func maxima(s *forecast.Series, from time.Time, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	offset := s.Start.Sub(from)
	for i := max(int(-offset/s.Step), 0); i < s.Len(); i++ {
		v, at := s.Values[i], offset+time.Duration(i)*s.Step
		first, last := max(int((at-s.Step)/Cell), 0), min(int((at-1)/Cell), n-1)
		if at <= 0 || !(v >= 0 && v <= maxDemand) {
			continue
		}
		for c := first; c <= last; c++ {
			if !(v <= out[c]) {
				out[c] = v
			}
		}
	}
	return out
}

// sum returns the sum of the members' cells over the time that any of them knows. Before the history of a member begins, its first day
// repeats, so that a new member does not hide what the others asked for a week ago.
func sum(members [][]float64, end time.Time) history {
	longest := 0
	for _, cells := range members {
		if len(cells) < cellsPerDay {
			return history{end: end} // Values on a grid that does not fit the cells: nothing is known.
		}
		longest = max(longest, len(cells))
	}
	out := history{end: end, gpus: make([]float64, longest)}
	for _, cells := range members {
		missing := longest - len(cells)
		days := (missing + cellsPerDay - 1) / cellsPerDay
		for i := range out.gpus {
			if i < missing {
				out.gpus[i] += cells[(i-missing+days*cellsPerDay)%cellsPerDay]
			} else {
				out.gpus[i] += cells[i-missing]
			}
		}
	}
	return out
}

package warmpool

import (
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// maxCells is the size of the common grid: a day of five minutes.
const maxCells = 288

// grid is the common grid of the members' recent demand: the coarsest of their steps, up to the newest of their ends.
type grid struct {
	step  time.Duration
	start time.Time
	n     int
}

func gridOf(sound []*plannedMember) grid {
	var g grid
	var end time.Time
	for _, a := range sound {
		recent := &a.Outlook.Recent
		if recent.Step <= 0 || len(recent.Values) == 0 {
			continue
		}
		g.step = max(g.step, recent.Step)
		g.n = max(g.n, len(recent.Values))
		if last := recent.End(); last.After(end) {
			end = last
		}
	}
	g.n = min(g.n, maxCells)
	g.start = end.Add(-time.Duration(g.n) * g.step)
	return g
}

// steps returns the steps of a window, at least one.
func (g grid) steps(window time.Duration) int {
	return int(max(1, min((window+g.step-1)/g.step, maxCells)))
}

// align puts the members' pasts on the grid; nil for those that are too short compared with the longest. A series on
// the grid is used as it is; of any other, the means within each cell.
func (g grid) align(sound []*plannedMember) [][]float64 {
	out := make([][]float64, len(sound))
	known := make([]int, len(sound))
	longest := 0
	for i, a := range sound {
		out[i] = g.values(a.Outlook.Recent)
		for _, v := range out[i] {
			if !math.IsNaN(v) {
				known[i]++
			}
		}
		longest = max(longest, known[i])
	}
	for i := range out {
		if known[i] == 0 || float64(known[i]) < minPastShare*float64(longest) {
			out[i] = nil
		}
	}
	return out
}

func (g grid) values(s forecast.Series) []float64 {
	if s.Step <= 0 || len(s.Values) == 0 {
		return nil
	}
	if ahead := g.start.Sub(s.Start); s.Step == g.step && ahead >= 0 && ahead%g.step == 0 {
		if first := int(ahead / g.step); first+g.n == len(s.Values) && allDemand(s.Values[first:]) {
			return s.Values[first:]
		}
	}
	sums, counts := make([]float64, g.n), make([]int, g.n)
	for i, v := range s.Values {
		since := s.TimeAt(i).Sub(g.start)
		if cell := int(since / g.step); since >= 0 && cell < g.n && isDemand(v) {
			sums[cell] += v
			counts[cell]++
		}
	}
	for i, n := range counts {
		sums[i] /= float64(n) // NaN where there is none.
	}
	return sums
}

// isDemand reports whether a value can be a demand.
func isDemand(v float64) bool { return v >= 0 && v <= maxDemand }

// allDemand reports whether all values can be a demand, or are gaps.
func allDemand(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return !isDemand(v) && !math.IsNaN(v) })
}

package warmpool

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// cells bounds the common grid: a day of five minutes.
const cells = 288

// grid is the common grid of members' recent demand: the coarsest of their steps, up to the newest of their ends.
type grid struct {
	step  time.Duration
	start time.Time
	n     int
}

func gridOf(sound []*asker) grid {
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
	g.n = min(g.n, cells)
	g.start = end.Add(-time.Duration(g.n) * g.step)
	return g
}

// steps are those that a window reaches over, at least one.
func (g grid) steps(window time.Duration) int {
	return int(max(1, min((window+g.step-1)/g.step, cells)))
}

// align puts the members' pasts on the grid; nil for those whose past is short of the longest. A series on the grid is
// used as it is; of another the means of its points within each cell are.
func (g grid) align(sound []*asker) [][]float64 {
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
		if known[i] == 0 || float64(known[i]) < shortestShare*float64(longest) {
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
		if first := int(ahead / g.step); first+g.n == len(s.Values) && clean(s.Values[first:]) {
			return s.Values[first:]
		}
	}
	sums, counts := make([]float64, g.n), make([]int, g.n)
	for i, v := range s.Values {
		since := s.TimeAt(i).Sub(g.start)
		if cell := int(since / g.step); since >= 0 && cell < g.n && plausible(v) {
			sums[cell] += v
			counts[cell]++
		}
	}
	for i, n := range counts {
		sums[i] /= float64(n) // NaN where there is none.
	}
	return sums
}

// plausible says whether a value can be a demand.
func plausible(v float64) bool { return v >= 0 && v <= largest }

// clean says whether all values can be a demand, or are gaps.
func clean(values []float64) bool {
	for _, v := range values {
		if !plausible(v) && !math.IsNaN(v) {
			return false
		}
	}
	return true
}

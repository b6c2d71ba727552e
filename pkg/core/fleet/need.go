package fleet

import (
	"math"
	"slices"
	"time"
)

// lags returns the numbers of cells after which requests repeat: a day and a week. A Monday morning is not like a Sunday morning.
func lags() [2]int { return [2]int{cellsPerDay, 7 * cellsPerDay} }

const (
	// early and late are how many cells a ramp may begin earlier or later than the last time.
	early, late = 1, 1
	// persistence is the part of the difference to the last time that is expected to last.
	persistence = 0.5
)

// expect returns the GPUs that the members will ask for, at most, within a run of k cells that begins in the cell after the first i, if they
// ask for now: the most that they asked for in the same time of a day before, plus a part of the difference between now and then.
//
// For example, the members ask for 30 GPUs now. Yesterday they asked for 28 at this time, and for 40 at most in the following 20 minutes. A
// week ago, these were 26 and 36. They are expected to need at most 41: 40 + (30 − 28)/2.
func (h *history) expect(i int, now float64, k int) float64 {
	gpus := now
	for _, lag := range lags() {
		from := i - lag
		if from < early {
			continue
		}
		high := 0.0
		for _, v := range h.gpus[from-early : min(from+k+late+1, i)] {
			high = math.Max(high, v)
		}
		gpus = math.Max(gpus, high+persistence*(now-h.usual(from, now)))
	}
	return gpus
}

// cellsIn returns the number of cells that a run takes, at least one.
func cellsIn(run time.Duration) int {
	return min(max(int((run+Cell-1)/Cell), 1), cellsPerDay)
}

// usual returns what the members asked for at the same moment of the past, as far as a cell and those before it tell: the value between
// them that is nearest to what they ask for now. In a ramp, nothing tells when it began within its cell, and now it may begin later.
func (h *history) usual(at int, now float64) float64 {
	low := slices.Min(h.gpus[max(0, at-1-late) : at+1])
	return math.Max(low, math.Min(now, max(h.gpus[at-1], h.gpus[at])))
}

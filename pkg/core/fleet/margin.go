package fleet

import "math"

const (
	// marginStep and maxMargin are the margins that are tried. The largest is used after a burst that none of them would have covered.
	marginStep, maxMargin = 0.05, 1.0
	// killedShare is how much of the batch work that a plain priority would have killed may be killed: a twentieth. On recorded demand of
	// later days, it is a tenth at most.
	killedShare = 0.05
	// maxReplayed is over how many cells the margin is measured. If the first of them have no week before them, fewer are used, but at least
	// minReplayed, where there are as many.
	maxReplayed, minReplayed = 7 * cellsPerDay, 3 * cellsPerDay
)

// margin returns the smallest margin on the need with which hardly any batch work would have been killed in the last week; +Inf if the history
// is too short. gpus are available, and a run takes k cells.
//
// The replay has batch work at all times. With a plain priority, batch work takes every free GPU, and is killed when members ask for it.
func (h *history) margin(gpus float64, k int) float64 {
	n := len(h.gpus)
	from := max(cellsPerDay+early, n-maxReplayed, min(7*cellsPerDay+early, n-minReplayed))
	if from >= n {
		return math.Inf(1)
	}
	needs := make([]float64, 0, n-from)
	for i := from; i < n; i++ {
		needs = append(needs, h.expect(i, h.gpus[i], k))
	}
	asked := h.gpus[from:]
	allowed := killedShare * replay(asked, asked, 1, gpus, k)
	for n := range int(maxMargin / marginStep) {
		if margin := float64(n) * marginStep; replay(asked, needs, 1+margin, gpus, k) <= allowed {
			return margin
		}
	}
	return maxMargin
}

// runs are batch replicas of one GPU that end together.
type runs struct {
	end, count int
}

// replay returns the GPU-cells that were spent on runs that were killed: batch work that always fills what the need leaves, while the members
// ask for GPUs. A run that starts within a cell ends within the cell k later, and can still be killed there. The newest run is killed first,
// as the scheduler of Kubernetes does.
func replay(asked, needs []float64, times, gpus float64, k int) float64 {
	var running []runs
	count, killed := 0, 0
	for i, now := range asked {
		for over := whole(float64(count) + now - gpus + 1 - grain); over > 0 && len(running) > 0; {
			newest := &running[len(running)-1]
			n := min(over, newest.count)
			killed += n * (k - (newest.end - i))
			count, over, newest.count = count-n, over-n, newest.count-n
			if newest.count == 0 {
				running = running[:len(running)-1]
			}
		}
		for len(running) > 0 && running[0].end <= i {
			count -= running[0].count
			running = running[1:]
		}
		if started := whole(gpus-times*needs[i]+grain) - count; started > 0 {
			running = append(running, runs{end: i + k, count: started})
			count += started
		}
	}
	return float64(killed)
}

// whole rounds down to a whole number from 0 to maxGPUs.
func whole(v float64) int {
	if !(v >= 1) {
		return 0
	}
	return int(math.Min(v, maxGPUs))
}

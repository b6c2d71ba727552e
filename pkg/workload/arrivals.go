package workload

// arrivals count what comes up at each of the steps ahead.
type arrivals struct {
	// due is a ring over steps; its length bounds how far ahead something may be due.
	due   []int
	total int
	// last is a step after which nothing is due.
	last int
}

func newArrivals(longest int) arrivals { return arrivals{due: make([]int, longest+1)} }

func (a *arrivals) at(step int) *int { return &a.due[step%len(a.due)] }

// add has n more come up at a step, at most the longest lead ahead.
func (a *arrivals) add(step, n int) {
	*a.at(step) += n
	a.total += n
	a.last = max(a.last, step)
}

// take is what comes up at a step. Steps must be taken one after the other.
func (a *arrivals) take(step int) int {
	due := a.at(step)
	n := *due
	*due = 0
	a.total -= n
	return n
}

// cancel takes back up to n of what comes up after a step, the latest first, and returns how many.
func (a *arrivals) cancel(step, n int) int {
	left := min(n, a.total)
	cancelled := left
	for left > 0 && a.last > step {
		due := a.at(a.last)
		some := min(left, *due)
		*due -= some
		left -= some
		if *due == 0 {
			a.last--
		}
	}
	cancelled -= left
	a.total -= cancelled
	return cancelled
}

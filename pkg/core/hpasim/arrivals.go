package hpasim

// arrivals count what comes up at each of the steps ahead.
type arrivals struct {
	// due is a ring over steps; its length bounds how far ahead something may be due.
	due   []int32
	total int
	// last is a step after which nothing is due.
	last int
}

func newArrivals(longest int) arrivals { return arrivals{due: make([]int32, longest+1)} }

func (a *arrivals) at(step int) *int32 { return &a.due[step%len(a.due)] }

// add has n more come up at a step, at most the longest lead ahead.
func (a *arrivals) add(step, n int) {
	*a.at(step) += int32(n) //nolint:gosec // No more replicas than an HPA's maximum.
	a.total += n
	a.last = max(a.last, step)
}

// take is what comes up at a step. Steps must be taken one after the other.
func (a *arrivals) take(step int) int {
	if a.total == 0 {
		return 0
	}
	due := a.at(step)
	n := int(*due)
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
		some := min(left, int(*due))
		*due -= int32(some) //nolint:gosec // Part of what is due.
		left -= some
		if *due == 0 {
			a.last--
		}
	}
	cancelled -= left
	a.total -= cancelled
	return cancelled
}

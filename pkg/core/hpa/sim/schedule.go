package sim

// schedule counts the pods or nodes that become ready at each of the next steps.
type schedule struct {
	// due is a ring over steps. Its length limits how far ahead a step may be.
	due   []int32
	total int
	// last is a step after which nothing becomes ready.
	last int
}

func newSchedule(longest int) schedule { return schedule{due: make([]int32, longest+1)} }

func (a *schedule) at(step int) *int32 { return &a.due[step%len(a.due)] }

// add schedules n more for a step, at most the longest lead time ahead.
func (a *schedule) add(step, n int) {
	*a.at(step) += int32(n) //nolint:gosec // No more replicas than an HPA's maximum.
	a.total += n
	a.last = max(a.last, step)
}

// take removes and returns what becomes ready at a step. Steps are taken in order.
func (a *schedule) take(step int) int {
	if a.total == 0 {
		return 0
	}
	due := a.at(step)
	n := int(*due)
	*due = 0
	a.total -= n
	return n
}

// cancel removes up to n of what becomes ready after a step, the latest first, and returns their number.
func (a *schedule) cancel(step, n int) int {
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

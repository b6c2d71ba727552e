package sim

import "slices"

// schedule holds the pods or nodes that become ready at later steps.
type schedule struct {
	// coming ascend in time: few steps have any.
	coming []coming
	total  int
}

// coming become ready at a step.
type coming struct{ step, n int32 }

// add schedules n more for a step.
func (a *schedule) add(step, n int) {
	if n == 0 {
		return
	}
	one := coming{int32(step), int32(n)} //nolint:gosec // No simulation and no HPA has so many.
	at := len(a.coming)
	for at > 0 && a.coming[at-1].step > one.step {
		at--
	}
	if at > 0 && a.coming[at-1].step == one.step {
		a.coming[at-1].n += one.n
	} else {
		a.coming = slices.Insert(a.coming, at, one)
	}
	a.total += n
}

// take removes and returns what becomes ready at a step. Steps are taken in order.
func (a *schedule) take(step int) int {
	if a.total == 0 || int(a.coming[0].step) > step {
		return 0
	}
	n := int(a.coming[0].n)
	a.coming = slices.Delete(a.coming, 0, 1)
	a.total -= n
	return n
}

// at is what becomes ready at a step.
func (a *schedule) at(step int) int {
	for _, one := range a.coming {
		if int(one.step) == step {
			return int(one.n)
		}
	}
	return 0
}

// cancel removes up to n of what becomes ready, the latest first, and returns their number.
func (a *schedule) cancel(n int) int {
	cancelled := min(n, a.total)
	for left := cancelled; left > 0; {
		last := &a.coming[len(a.coming)-1]
		some := min(left, int(last.n))
		if last.n -= int32(some); last.n == 0 { //nolint:gosec // Part of what comes.
			a.coming = a.coming[:len(a.coming)-1]
		}
		left -= some
	}
	a.total -= cancelled
	return cancelled
}

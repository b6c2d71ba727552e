package compare

import (
	"github.com/forewarm/forewarm/forecast"
)

// shiftedMembers are members of a pool of which one history is known: the others are taken to be like it, each a whole number of
// days apart. Their days have the same shape and their bursts come at different times. Where a member's history ends, it
// goes on with the beginning: what was forecast moves with the demand, so nothing is known there that was not.
type shiftedMembers struct {
	// Count is how many there are.
	Count int
	// from is where the days begin that go round, in steps: before it the one member stays as it was. cycle is their length,
	// and day that of one.
	from, cycle, day int
}

// newShiftedMembers has as many members as are wanted and as there are whole days from a step of the history on, one at least, at
// most so many as can be played in seconds. The history is of n steps.
func newShiftedMembers(wanted, n, from int) shiftedMembers {
	perDay := int(day / sync)
	days := max(0, n-from) / perDay
	return shiftedMembers{Count: max(1, min(wanted, days, maxMembers)), from: from, cycle: days * perDay, day: perDay}
}

// maxMembers is the largest number of members to simulate. Each member makes planning slower.
const maxMembers = 8

// Steps is how many of n steps are played. With several members, these are whole days.
func (a shiftedMembers) Steps(n int) int {
	if a.Count == 1 {
		return n
	}
	return a.from + a.cycle
}

// step is which of the history's a member plays at a step.
func (a shiftedMembers) step(member, i int) int {
	if member == 0 {
		return i
	}
	since := (i - a.from + member*a.day) % a.cycle
	if since < 0 {
		since += a.cycle
	}
	return a.from + since
}

// Values returns the values of a member, from values that have one entry for each step.
func (a shiftedMembers) Values(member int, values []float64) []float64 {
	n := a.Steps(len(values))
	if member == 0 {
		return values[:n]
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = values[a.step(member, i)]
	}
	return out
}

// Series is a member's demand.
func (a shiftedMembers) Series(member int, s forecast.Series) forecast.Series {
	s.Values = a.Values(member, s.Values)
	return s
}

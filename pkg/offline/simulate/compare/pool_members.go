package compare

import (
	"github.com/forewarm/forewarm/forecast"
)

// shiftedMembers are the members of a pool if the history of only one member is known. The other members are assumed to have the same
// history, shifted by a whole number of days. Their days have the same shape, but their bursts come at different times. After the end of a
// member's history, it continues with the beginning. The forecasts move with the demand, so the simulation does not know anything about the
// future.
type shiftedMembers struct {
	// Count is how many there are.
	Count int
	// from is the step from which days are shifted; before it, the first member is unchanged. cycle is the length of the shifted part in
	// steps, and day the length of a day.
	from, cycle, day int
}

// newShiftedMembers returns at least one member and at most the wanted number. There are at most as many as whole days in the history after
// the step from, and at most maxMembers. The history has n steps.
func newShiftedMembers(wanted, n, from int) shiftedMembers {
	perDay := int(day / sync)
	days := max(0, n-from) / perDay
	return shiftedMembers{Count: max(1, min(wanted, days, maxMembers)), from: from, cycle: days * perDay, day: perDay}
}

// maxMembers is the maximum number of members to simulate. Each member makes planning slower.
const maxMembers = 8

// Steps is how many of n steps are played. With several members, these are whole days.
func (a shiftedMembers) Steps(n int) int {
	if a.Count == 1 {
		return n
	}
	return a.from + a.cycle
}

// step returns the step of the history that a member uses at a step.
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

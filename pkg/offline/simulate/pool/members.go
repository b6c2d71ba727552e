package pool

import (
	"time"

	"github.com/forewarm/forewarm/forecast"
)

// ShiftedMembers are members of a pool of which one history is known: the others are taken to be like it, each a whole number of
// days apart. Their days have the same shape and their bursts come at different times. Where a member's history ends, it
// goes on with the beginning: what was forecast moves with the demand, so nothing is known there that was not.
type ShiftedMembers struct {
	// Count is how many there are.
	Count int
	// from is where the days begin that go round, in steps: before it the one member stays as it was. round is their length,
	// and day that of one.
	from, cycle, day int
}

// NewShiftedMembers has as many members as are wanted and as there are whole days from a step of the history on, one at least, at
// most so many as can be played in seconds. The history is of n steps.
func NewShiftedMembers(wanted, n, from int, step time.Duration) ShiftedMembers {
	day := int(season / step)
	days := max(0, n-from) / day
	return ShiftedMembers{Count: max(1, min(wanted, days, maxMembers)), from: from, cycle: days * day, day: day}
}

// maxMembers bounds those that are played: a plan takes the longer the more there are.
const maxMembers = 8

// Steps is how many are played of n: whole days, where there is more than one member.
func (a ShiftedMembers) Steps(n int) int {
	if a.Count == 1 {
		return n
	}
	return a.from + a.cycle
}

// step is which of the history's a member plays at a step.
func (a ShiftedMembers) step(member, i int) int {
	if member == 0 {
		return i
	}
	since := (i - a.from + member*a.day) % a.cycle
	if since < 0 {
		since += a.cycle
	}
	return a.from + since
}

// Values is what a member has of values with one for each step.
func (a ShiftedMembers) Values(member int, values []float64) []float64 {
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
func (a ShiftedMembers) Series(member int, s forecast.Series) forecast.Series {
	s.Values = a.Values(member, s.Values)
	return s
}

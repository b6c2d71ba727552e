package capacity

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// History is what was seen of a service, on one even grid.
type History struct {
	// Step is the distance between two moments, more than 0.
	Step time.Duration
	// Demand is the total, in the signal's unit; Ready the replicas that could serve it. NaN is what is not known.
	Demand, Ready []float64
	// Saturated is above 0 while the service is at its limit: best the length of its queue. NaN counts as 0, for what is
	// filtered by a comparison has no samples while it does not hold.
	Saturated []float64
}

// Validate returns what keeps a history from being looked at.
func (h History) Validate() error {
	var problems []error
	if h.Step <= 0 {
		problems = append(problems, fmt.Errorf("a step of %s; expected more than 0", h.Step))
	}
	if len(h.Ready) != len(h.Demand) || len(h.Saturated) != len(h.Demand) {
		problems = append(
			problems,
			fmt.Errorf("%d values of the demand, %d values of the replicas and %d values of the "+
				"saturation; expected the same number of each", len(h.Demand), len(h.Ready), len(h.Saturated)),
		)
	}
	return errors.Join(problems...)
}

// state is the information about the capacity in a moment.
type state uint8

const (
	// calm means that nothing waited, so the load was carried.
	calm state = iota
	// growing means that the queue grew and still existed a step later, so the load was more than the replica could carry.
	growing
	// waiting means that something waited, but not more than before, or only for a moment. While a queue drains, a count of arriving requests
	// is below the capacity, and a count that includes the queue is above it. Such a moment is no evidence in either direction.
	waiting
)

// moment is one step of a history with a known load per replica.
type moment struct {
	// step is its position in the history.
	step int
	// load is the demand for each ready replica. queue is the number of waiting requests for each replica, and grown is its growth.
	load, queue, grown float64
	state              state
	// lasts is true if something was already waiting at the previous step.
	lasts bool
}

// moments returns the steps with a known load. It leaves out steps in which the number of replicas changed, because for a part of the step
// the demand was divided by another number.
func (h History) moments() []moment {
	out := make([]moment, 0, len(h.Demand))
	for i := 1; i < len(h.Demand); i++ {
		replicas := h.Ready[i]
		load := h.Demand[i] / replicas
		if !(replicas > 0) || replicas != h.Ready[i-1] || !(load >= 0) || math.IsInf(load, 0) {
			continue
		}
		before, now := length(h.Saturated[i-1]), length(h.Saturated[i])
		m := moment{step: i, load: load, queue: now / replicas, grown: (now - before) / replicas, lasts: before > 0}
		switch {
		case now > before && i+1 < len(h.Saturated) && length(h.Saturated[i+1]) > 0:
			m.state = growing
		case now > 0:
			m.state = waiting
		}
		out = append(out, m)
	}
	return smooth(out)
}

// length converts a value of the saturation to the length of a queue; 0 if there is none.
func length(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// smooth replaces each load by the mean of the loads around it that are consecutive and have the same state. Noise that does not affect the
// queue, for example because scrapes happen at different times, would move a threshold away from where most loads are. What a state says
// about each of the loads also applies to their mean, because all of them are below the capacity, or all of them are above it.
func smooth(moments []moment) []moment {
	const reach = 2 // The same distance to both sides, so that a rise does not shift the mean.
	out := make([]moment, len(moments))
	copy(out, moments)
	for i := range moments {
		sum, within := moments[i].load, 1.0
		for d := 1; d <= reach && i-d >= 0 && i+d < len(moments); d++ {
			a, b := moments[i-d], moments[i+d]
			if b.step-a.step != 2*d || a.state != moments[i].state || b.state != moments[i].state {
				break
			}
			sum += a.load + b.load
			within += 2
		}
		out[i].load = sum / within
	}
	return out
}

// loads returns the loads of the moments that satisfy a condition.
func loads(moments []moment, of func(moment) bool) []float64 {
	var out []float64
	for _, m := range moments {
		if of(m) {
			out = append(out, m.load)
		}
	}
	return out
}

func isCalm(m moment) bool    { return m.state == calm }
func isGrowing(m moment) bool { return m.state == growing }

// atLimit reports whether something waited for more than one step.
func atLimit(m moment) bool { return m.state != calm && m.lasts }

// episodes counts how often the service reached its limit at a load or above. Growing moments that are further apart than a pause are
// separate episodes.
func episodes(moments []moment, load float64, pause int) int {
	count, last := 0, math.MinInt
	for _, m := range moments {
		if m.state != growing || m.load < load {
			continue
		}
		if count == 0 || m.step-last > pause {
			count++
		}
		last = m.step
	}
	return count
}

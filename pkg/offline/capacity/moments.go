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

// state is what a moment shows about the capacity.
type state uint8

const (
	// calm: nothing waited, so the load was carried.
	calm state = iota
	// growing: the queue grew, and was still there a step later: the load was more than was carried.
	growing
	// waiting: something waited, but no more than before, or only for a moment. While a queue drains a count of what arrives
	// lies below the capacity, and one that holds the queue above it: such a moment is no evidence for either.
	waiting
)

// moment is one step of a history of which the load of a replica is known.
type moment struct {
	// step is its place in the history.
	step int
	// load is the demand for each ready replica; queue what waits for each, grown by how much that grew.
	load, queue, grown float64
	state              state
	// lasts says that something waited at the step before, too.
	lasts bool
}

// moments are those steps whose load is known. A step in which replicas came or went is left out: for a part of it the
// demand was that of another number.
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

// length is a value of the saturation as that of a queue, 0 where there is none.
func length(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// smooth makes of each load the mean of those around it, as far as they follow one another and are of its state: noise that
// the queue knows nothing of, such as that of scrapes at other times, would move a threshold away from where most loads are.
// What is said of each of the loads holds for their mean too, as all are below the capacity, or all above.
func smooth(moments []moment) []moment {
	const reach = 2 // to either side alike, so that a rise moves no mean
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

// loads are those of the moments that one can say something of.
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

// episodes is how often the service came to its limit at a load or above: growing moments that lie further apart than a
// pause are two.
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

package compare

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// startTimes measures how long before or after the demand needed it every replica was ready that was started for a rise.
//
// It looks at the levels of replicas one by one: the n-th is needed while the demand is over n − 1 replicas' capacity, and
// there while n are ready. If it was ready before it was needed, it was early by that time; if it was needed first, late by
// that. A replica that nothing ever needed was started for no rise, and one that was only asked for when the demand had
// gone again does not count.
type startTimes struct {
	needed, ready, high int
	steps               int
	// needs and readies are, for each level, since which step it is needed and not there, or there and not needed; 0 is
	// neither, as steps count from 1.
	needs, readies []int
	early, late    time.Duration
	count          int
}

// step takes in a moment. Before it is counted only the levels are followed.
func (s *startTimes) step(m *sim.StepResult, counted bool) {
	s.steps++
	// Rounding errors do not make a whole number one replica more.
	needed := int(math.Ceil(m.Arrived/sync.Hours() - 1e-9))
	high := max(needed, m.Ready, m.Replicas)
	for len(s.needs) < high {
		s.needs, s.readies = append(s.needs, 0), append(s.readies, 0)
	}
	for n := s.ready; n < m.Ready; n++ {
		s.becomesReady(n, needed > n, counted)
	}
	for n := m.Ready; n < s.ready; n++ {
		s.readies[n] = 0
	}
	for n := s.needed; n < needed; n++ {
		s.becomesNeeded(n, m.Ready > n, counted)
	}
	// A level that is neither needed nor starting was a burst without a start.
	for n := high; n < s.high; n++ {
		s.needs[n] = 0
	}
	s.needed, s.ready, s.high = needed, m.Ready, high
}

func (s *startTimes) becomesReady(n int, needed, counted bool) {
	switch since := s.needs[n]; {
	case since > 0:
		s.needs[n] = 0
		if counted {
			s.late += time.Duration(s.steps-since) * sync
			s.count++
		}
	case !needed:
		s.readies[n] = s.steps
	}
}

func (s *startTimes) becomesNeeded(n int, ready, counted bool) {
	since := s.readies[n]
	switch {
	case since > 0:
		s.readies[n] = 0
		if counted {
			s.early += time.Duration(s.steps-since) * sync
			s.count++
		}
	case !ready && s.needs[n] == 0:
		s.needs[n] = s.steps
	}
}

// means are those over all that were counted.
func (s *startTimes) means() (early, late time.Duration) {
	if s.count == 0 {
		return 0, 0
	}
	n := time.Duration(s.count)
	return s.early / n, s.late / n
}

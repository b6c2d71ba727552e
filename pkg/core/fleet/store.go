package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// MetricSuffix is added to the name of a fleet in the name of its External metric, and of KEDA's.
const MetricSuffix = "-spare"

// State is a fleet at a moment, immutable.
type State struct {
	Key snapshot.Key
	// Problem is why there is no plan; empty if there is one.
	Problem string
	Plan    Plan
	// Running is how many replicas of each consumer hold or wait for GPUs, in the order of the plan.
	Running []int
	// Refused are the consumers that are not in the plan, because nothing must be served to them, with the reasons.
	Refused map[string]string
	// Day is the day ahead of the members.
	Day Day
}

// Store has the newest states of all fleets. One component writes it; any number may read. The zero Store is empty.
type Store struct {
	newest atomic.Pointer[map[snapshot.Key]*State]
}

// Set replaces all states. The caller must not change them afterwards.
func (s *Store) Set(all map[snapshot.Key]*State) { s.newest.Store(&all) }

// Get returns a fleet; nil if there is none. A nil Store has none.
func (s *Store) Get(key snapshot.Key) *State {
	if s == nil {
		return nil
	}
	if all := s.newest.Load(); all != nil {
		return (*all)[key]
	}
	return nil
}

// List returns the fleets of a namespace, or of all namespaces if it is empty, sorted by namespace and name.
func (s *Store) List(namespace string) []*State {
	if s == nil || s.newest.Load() == nil {
		return nil
	}
	var out []*State
	for key, state := range *s.newest.Load() {
		if namespace == "" || key.Namespace == namespace {
			out = append(out, state)
		}
	}
	slices.SortFunc(out, func(a, b *State) int {
		return cmp.Or(cmp.Compare(a.Key.Namespace, b.Key.Namespace), cmp.Compare(a.Key.Name, b.Key.Name))
	})
	return out
}

// ErrConsumer is the cause of an error that only another consumer avoids.
var ErrConsumer = errors.New("unknown consumer")

// staleAfter is the age of a plan from which on it allows nothing: batch work that starts with it may be in the way of the members.
const staleAfter = 2 * time.Minute

// Usable returns why the plan allows nothing at a time, and what to do; nil if it can be used.
func (s *State) Usable(now time.Time) error {
	if s.Problem != "" {
		return fmt.Errorf("there is no plan: %s", s.Problem)
	}
	if age := now.Sub(s.Plan.At); age > staleAfter {
		return fmt.Errorf("the newest plan is %s old: see the log of Forewarm", humanize.Span(age))
	}
	return nil
}

// Spare returns what a consumer may use at a time. The error says why nothing can be said, and what to do.
func (s *State) Spare(consumer string, now time.Time) (Spare, error) {
	if err := s.Usable(now); err != nil {
		return Spare{}, err
	}
	if reason, refused := s.Refused[consumer]; refused {
		return Spare{}, fmt.Errorf("%.64s is refused: %s", consumer, reason)
	}
	var names []string
	for i := range s.Plan.Batch {
		if s.Plan.Batch[i].Name == consumer {
			return s.Plan.Batch[i], nil
		}
		names = append(names, s.Plan.Batch[i].Name)
	}
	const unknown = "%w %.64q: spec.batch has %s; if another reader used the same spare GPUs, they would be used twice"
	return Spare{}, fmt.Errorf(unknown, ErrConsumer, consumer, humanize.List(names))
}

package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Key names a Forecast.
type Key struct {
	Namespace string
	Name      string
}

// String is namespace/name.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Snapshot is the state of all Forecasts at one moment. It never changes.
type Snapshot struct {
	// Time of the step that made it.
	Time time.Time
	// Pending counts the Forecasts that have no entry with history yet: their first query is still under way.
	Pending int
	// Loop is how the step went.
	Loop LoopStats

	entries map[Key]*Entry
	keys    []Key
}

// LoopStats describe the refresh loop for telemetry; counters run since the start of the process.
type LoopStats struct {
	Steps uint64
	// StepSeconds is how long the last step took.
	StepSeconds float64
	// Queries and QueryErrors count fetches; Rebuilds count models fitted anew.
	Queries, QueryErrors, Rebuilds uint64
}

// New makes a snapshot. The entries are not copied and must not change any more.
func New(at time.Time, entries map[Key]*Entry, pending int, stats LoopStats) *Snapshot {
	return &Snapshot{
		Time: at, Pending: pending, Loop: stats,
		entries: entries, keys: slices.SortedFunc(maps.Keys(entries), compareKeys),
	}
}

// Get is the entry of a Forecast, nil where there is none.
func (s *Snapshot) Get(key Key) *Entry { return s.entries[key] }

// Keys are the names of all Forecasts, sorted by namespace and name. Read only.
func (s *Snapshot) Keys() []Key { return s.keys }

// All are the entries of a namespace in order of name; of every namespace where it is empty.
func (s *Snapshot) All(namespace string) []*Entry {
	out := make([]*Entry, 0, len(s.keys))
	for _, key := range s.keys {
		if namespace == "" || key.Namespace == namespace {
			out = append(out, s.entries[key])
		}
	}
	return out
}

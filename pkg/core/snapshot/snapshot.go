package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Key identifies a Forecast.
type Key struct {
	Namespace string
	Name      string
}

// String returns namespace/name.
func (k Key) String() string { return k.Namespace + "/" + k.Name }

func compareKeys(a, b Key) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Snapshot is the state of all Forecasts at one moment. It never changes.
type Snapshot struct {
	// Time of the step that produced the snapshot.
	Time time.Time
	// Pending counts the Forecasts that wait for their history. Their first query is in progress, or the source does not answer it.
	Pending int
	// Partial counts the Forecasts that answer from their newest history while Forewarm reads the rest.
	Partial int
	// Loop holds the loop's statistics.
	Loop LoopStats

	entries map[Key]*ForecastSnapshot
	keys    []Key
	// holders are the Forecasts that answer under each alias. exposing are the entries that answer under the aliases of each metric.
	holders  map[Key]Key
	exposing map[Key][]*ForecastSnapshot
}

// LoopStats are the refresh loop's statistics. Counters run since the start of the process.
type LoopStats struct {
	Steps uint64
	// StepSeconds is the duration of the longest step that began in the newest minute or in the minute before it.
	StepSeconds float64
	// Queries and QueryErrors count fetches, and Refits counts fits of models.
	Queries, QueryErrors, Refits uint64
	// Clocks says how far the clocks of the sources are ahead of this machine's clock, by the source's name, as far as known.
	Clocks map[string]ClockDifference
}

// MinClockDifference is the smallest difference between two clocks that is reported.
const MinClockDifference = 10 * time.Second

// ClockDifference is how far another clock is ahead of this machine's clock; negative if it is behind. It is known only within bounds,
// because the response took some time.
type ClockDifference struct {
	Min time.Duration `json:"min"`
	Max time.Duration `json:"max"`
}

// Least returns the smallest possible difference; 0 if the clocks may be equal.
func (d ClockDifference) Least() time.Duration { return min(max(0, d.Min), d.Max) }

// New returns a snapshot. The entries are not copied and must not change any more. Entries with an alias get the condition Exposed.
func New(at time.Time, entries map[Key]*ForecastSnapshot, pending int, stats LoopStats) *Snapshot {
	s := &Snapshot{
		Time: at, Pending: pending, Loop: stats,
		entries: entries, keys: slices.SortedFunc(maps.Keys(entries), compareKeys),
	}
	for _, e := range entries {
		if e.Partial {
			s.Partial++
		}
	}
	s.resolveAliases()
	return s
}

// Get returns the entry of a Forecast; nil if there is none.
func (s *Snapshot) Get(key Key) *ForecastSnapshot { return s.entries[key] }

// Keys returns the names of all Forecasts, sorted by namespace and name. The caller must not change them.
func (s *Snapshot) Keys() []Key { return s.keys }

// Entries returns the entries of a namespace, or of all namespaces if it is empty, in order of name.
func (s *Snapshot) Entries(namespace string) []*ForecastSnapshot {
	out := make([]*ForecastSnapshot, 0, len(s.keys))
	for _, key := range s.keys {
		if namespace == "" || key.Namespace == namespace {
			out = append(out, s.entries[key])
		}
	}
	return out
}

// Store holds the newest snapshot. The zero Store is ready to use and empty.
type Store struct {
	newest atomic.Pointer[publication]
}

// publication is a published snapshot. The first watcher of an empty store adds a publication without a snapshot.
type publication struct {
	snapshot *Snapshot
	// replaced is closed when the publication is replaced. That happens once, because Swap returns each publication to
	// one caller only.
	replaced chan struct{}
}

// Publish replaces the newest snapshot and wakes all watchers.
func (b *Store) Publish(s *Snapshot) {
	if old := b.newest.Swap(&publication{snapshot: s, replaced: make(chan struct{})}); old != nil {
		close(old.replaced)
	}
}

// Load returns the newest snapshot; nil before the first one.
func (b *Store) Load() *Snapshot {
	if newest := b.newest.Load(); newest != nil {
		return newest.snapshot
	}
	return nil
}

// Watch returns the newest snapshot, nil before the first one, and a channel that is closed when there is a newer one. A watcher that calls
// Watch again skips only snapshots that were already replaced. The caller does not need to release anything.
func (b *Store) Watch() (*Snapshot, <-chan struct{}) {
	for {
		if newest := b.newest.Load(); newest != nil {
			return newest.snapshot, newest.replaced
		}
		b.newest.CompareAndSwap(nil, &publication{replaced: make(chan struct{})})
	}
}

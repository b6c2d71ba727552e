package refresh

import (
	"math"
	"time"
)

const (
	// The newest samples are read again for at least leastOverlap and at most mostOverlap. Older changes are seen when the history
	// is read again, at an anchor.
	leastOverlap, mostOverlap = 5 * time.Minute, time.Hour
	// exploration is how often samples are read again for the whole mostOverlap.
	exploration = 10 * time.Minute
	// overlapHalfLife is the time in which the overlap falls by half while nothing changes.
	overlapHalfLife = 30 * time.Minute
)

// lateness is how old the samples of a source were when they changed: remote writes and recording rules come late, those of one
// shard later than those of another. What it knows decides what is read again. Which samples are incomplete depends on the newest
// two reads alone, so that all adapter replicas agree soon.
type lateness struct {
	step time.Duration
	// overlap is how far back samples are read again: twice the age at which one changed, and less and less from then on. A
	// replica that has just started knows nothing, and begins with the most.
	overlap time.Duration
	// grew is the age of the oldest sample that was larger at the newest read, and at the one before; 0 if none was.
	grew [2]time.Duration
	// changed: a sample has changed since the last anchor.
	changed bool
}

func newLateness(step time.Duration) lateness {
	return lateness{step: step, overlap: mostOverlapOf(step)}
}

// mostOverlapOf is the longest overlap for a step.
func mostOverlapOf(step time.Duration) time.Duration { return max(mostOverlap, 4*step) }

// overlapAt is how far back samples are read again when the newest step is read.
func (l *lateness) overlapAt(newest time.Time) time.Duration {
	if newest.UnixNano()%int64(exploration) < int64(l.step) {
		return mostOverlapOf(l.step)
	}
	return l.overlap
}

// read records the oldest step that changed at a read, and the oldest one whose sample was larger; zero where there is none.
func (l *lateness) read(changed, grown, newest time.Time) {
	l.overlap = time.Duration(float64(l.overlap) * math.Exp2(-float64(l.step)/float64(overlapHalfLife)))
	l.grew = [2]time.Duration{0, l.grew[0]}
	most := mostOverlapOf(l.step)
	if !changed.IsZero() {
		l.changed = true
		l.overlap = max(l.overlap, 2*newest.Sub(changed))
	}
	if age := newest.Sub(grown); !grown.IsZero() && age <= most {
		l.grew[0] = age
	}
	l.overlap = min(max(l.overlap, leastOverlap, 2*l.step), most)
}

// incompleteFor is the age from which on samples are complete; 0 if all are.
func (l *lateness) incompleteFor() time.Duration { return max(l.grew[0], l.grew[1]) }

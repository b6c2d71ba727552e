package demo

import (
	"fmt"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// moment is a number of replicas at a time.
type moment struct {
	at       time.Time
	replicas int
}

// rise follows the replicas that are asked for and those that the demand needs, each only while it is more than ever before.
type rise struct {
	// since[n-1] is when n replicas were first asked for; zero if they were at first.
	since []time.Time
	// first and most are what the demand needed at first, and at most.
	first, most moment
}

// observe adds what is asked for and what the demand needs, and returns a line for each that is more than before.
func (r *rise) observe(asked, needed moment) (lines []string) {
	if r.most.replicas == 0 {
		r.first, r.most, r.since = needed, needed, make([]time.Time, asked.replicas)
		return nil
	}
	if more := asked.replicas - len(r.since); more > 0 {
		r.since = append(r.since, slices.Repeat([]time.Time{asked.at}, more)...)
		lines = append(lines,
			fmt.Sprintf("Forewarm asks for %d replicas; the demand needs %d", asked.replicas, needed.replicas))
	}
	if needed.replicas > r.most.replicas {
		r.most = needed
		lines = append(lines, r.needs(asked.replicas))
	}
	return lines
}

// needs says how long before the demand needed its replicas they were asked for.
func (r *rise) needs(asked int) string {
	text := fmt.Sprintf("the demand needs %d replicas", r.most.replicas)
	if len(r.since) < r.most.replicas {
		return fmt.Sprintf("%s; Forewarm asks for %d: it did not foresee this rise", text, asked)
	}
	since := r.since[r.most.replicas-1]
	ahead := r.most.at.Sub(since)
	switch {
	case since.IsZero():
		return text + "; Forewarm asked for them from the first"
	case ahead <= 0:
		return text + ", which Forewarm asks for only now: it did not foresee this rise"
	}
	return fmt.Sprintf("%s; Forewarm asked for them %s before", text, humanize.Span(ahead))
}

// over reports whether the demand has risen, by half at least, and has not risen further for a while.
func (r *rise) over(now time.Time) bool {
	const pause = 10 * time.Minute
	return 2*r.most.replicas >= 3*r.first.replicas && r.most.replicas > r.first.replicas && now.Sub(r.most.at) >= pause
}

package forecaster

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

const (
	// maxSpans is the number of newest spans that are kept.
	maxSpans = 64
	// joinGap is the distance below which two spans with the same cause are joined. A plot of a day does not show more detail.
	joinGap = 5 * time.Minute
)

// spans keeps the newest spans of a series, for display.
type spans struct {
	step    time.Duration
	newest  []demand.Span
	started bool
}

// add adds the next sample. Missing samples before the first sample are not recorded, because the workload did not exist yet.
func (s *spans) add(at time.Time, cause demand.Cause) {
	s.started = s.started || cause != demand.Missing
	if cause == 0 || !s.started {
		return
	}
	end := at.Add(s.step)
	if n := len(s.newest); n > 0 {
		if last := &s.newest[n-1]; last.Cause == cause && at.Sub(last.To) < joinGap {
			last.To = end
			last.Samples++
			return
		}
		if n == maxSpans {
			s.newest = slices.Delete(s.newest, 0, 1)
		}
	}
	s.newest = append(s.newest, demand.Span{From: at, To: end, Cause: cause, Samples: 1})
}

// since returns the spans that end after a time, oldest first.
func (s *spans) since(t time.Time) []demand.Span {
	var out []demand.Span
	for _, span := range s.newest {
		if span.To.After(t) {
			out = append(out, span)
		}
	}
	return out
}

// current returns the span that contains the newest sample. end is the end of this sample. A censored span lasts until a new sample would
// no longer be joined to it. Otherwise, the result would flap with a queue that is sometimes empty.
func (s *spans) current(end time.Time) (span demand.Span, ok bool) {
	if len(s.newest) == 0 {
		return demand.Span{}, false
	}
	span = s.newest[len(s.newest)-1]
	return span, span.To.Equal(end) || span.Cause.Kind() == demand.Censored && end.Sub(span.To) < joinGap
}

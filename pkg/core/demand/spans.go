package demand

import "time"

const (
	// maxSpans is how many spans are kept, the newest.
	maxSpans = 64
	// joinGap is how far apart two spans of one cause may be to be joined: a plot of a day shows no more.
	joinGap = 5 * time.Minute
)

// Span is a time in which samples were censored or masked.
type Span struct {
	// From is the time of the first sample, To the end of the last one.
	From, To time.Time
	Cause    Cause
	// Samples is the number of samples of the cause; the others in between are known.
	Samples int
}

// Spans keeps the newest spans of a series, for display.
type Spans struct {
	step    time.Duration
	spans   []Span
	started bool
}

// NewSpans returns an empty Spans of a series with a step.
func NewSpans(step time.Duration) *Spans { return &Spans{step: step} }

// Add adds the next sample. Missing samples before the first one are no gap: the workload did not exist yet.
func (s *Spans) Add(at time.Time, cause Cause) {
	s.started = s.started || cause != Missing
	if cause == 0 || !s.started {
		return
	}
	end := at.Add(s.step)
	if n := len(s.spans); n > 0 {
		if last := &s.spans[n-1]; last.Cause == cause && at.Sub(last.To) < joinGap {
			last.To = end
			last.Samples++
			return
		}
		if n == maxSpans {
			copy(s.spans, s.spans[1:])
			s.spans = s.spans[:n-1]
		}
	}
	s.spans = append(s.spans, Span{From: at, To: end, Cause: cause, Samples: 1})
}

// Since returns the spans that end after a time, oldest first.
func (s *Spans) Since(t time.Time) []Span {
	var out []Span
	for _, span := range s.spans {
		if span.To.After(t) {
			out = append(out, span)
		}
	}
	return out
}

// Current returns the span that contains the newest sample, whose end is given. A censored span lasts as long as the
// next sample would be joined to it: otherwise the result would flap with a queue that is empty at times.
func (s *Spans) Current(end time.Time) (span Span, ok bool) {
	n := len(s.spans)
	if n == 0 {
		return Span{}, false
	}
	span = s.spans[n-1]
	lasts := span.To.Equal(end) || span.Cause.Kind() == Censored && end.Sub(span.To) < joinGap
	return span, lasts
}

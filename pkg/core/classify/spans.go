package classify

import "time"

const (
	// mostSpans is how many spans are kept, the newest.
	mostSpans = 64
	// together is how far apart two spans of one cause may lie to be one: a plot of a day shows no more.
	together = 5 * time.Minute
)

// Span is a time in which samples were not simply known.
type Span struct {
	// From is the time of its first sample, To the end of its last one.
	From, To time.Time
	Cause    Cause
	// Samples of the cause in it; the others in between are known.
	Samples int
}

// Spans remembers the newest spans of a series, for eyes.
type Spans struct {
	step  time.Duration
	spans []Span
	begun bool
}

// NewSpans are of a series of such steps.
func NewSpans(step time.Duration) *Spans { return &Spans{step: step} }

// Add takes the next sample. What is missing before the first sample is no gap: the workload was not there yet.
func (s *Spans) Add(at time.Time, cause Cause) {
	s.begun = s.begun || cause != Missing
	if cause == 0 || !s.begun {
		return
	}
	end := at.Add(s.step)
	if n := len(s.spans); n > 0 {
		if last := &s.spans[n-1]; last.Cause == cause && at.Sub(last.To) < together {
			last.To = end
			last.Samples++
			return
		}
		if n == mostSpans {
			copy(s.spans, s.spans[1:])
			s.spans = s.spans[:n-1]
		}
	}
	s.spans = append(s.spans, Span{From: at, To: end, Cause: cause, Samples: 1})
}

// Since are the spans that end after a time, oldest first.
func (s *Spans) Since(t time.Time) []Span {
	var out []Span
	for _, span := range s.spans {
		if span.To.After(t) {
			out = append(out, span)
		}
	}
	return out
}

// Newest is the span that lasts at a time, the end of the newest sample. A lower bound lasts as long as another would
// belong to its span: a queue that is empty at times would flutter else.
func (s *Spans) Newest(end time.Time) (span Span, ok bool) {
	n := len(s.spans)
	if n == 0 {
		return Span{}, false
	}
	span = s.spans[n-1]
	lasts := span.To.Equal(end) || span.Cause.Kind() == LowerBound && end.Sub(span.To) < together
	return span, lasts
}

package forecaster //nolint:testpackage // Spans are held against lists, which the package does not show.

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

const spanStep = 30 * time.Second

func spanAt(i int) time.Time {
	return time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * spanStep)
}

func TestSpans(t *testing.T) {
	const known, limit, outage, missing = demand.Cause(0), demand.Saturated, demand.Outage, demand.Missing
	s := spans{step: spanStep}
	for i, cause := range []demand.Cause{
		missing, missing, known, limit, limit, known, limit, outage, known, missing,
		known, known, known, known, known, known, known, known, known, known, missing, limit,
	} {
		s.add(spanAt(i), cause)
	}
	want := []demand.Span{
		{From: spanAt(3), To: spanAt(7), Cause: limit, Samples: 3}, // With a known one in between.
		{From: spanAt(7), To: spanAt(8), Cause: outage, Samples: 1},
		{From: spanAt(9), To: spanAt(10), Cause: missing, Samples: 1},
		{From: spanAt(20), To: spanAt(21), Cause: missing, Samples: 1},
		{From: spanAt(21), To: spanAt(22), Cause: limit, Samples: 1},
	}
	if diff := cmp.Diff(want, s.since(spanAt(0))); diff != "" {
		t.Errorf("missing samples before the first one are no gap (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[3:], s.since(spanAt(10))); diff != "" {
		t.Errorf("since the tenth step (-want +got)\n%s", diff)
	}
	if got, ok := s.current(spanAt(22)); !ok || got != want[4] {
		t.Errorf("the newest is %+v, %v", got, ok)
	}
	if _, ok := s.current(spanAt(31)); !ok {
		t.Error("a censored span ends within five minutes")
	}
	if got, ok := s.current(spanAt(32)); ok {
		t.Errorf("after five minutes %+v lasts", got)
	}
	s.add(spanAt(22), outage)
	if _, ok := s.current(spanAt(24)); ok {
		t.Error("an outage lasts after its end")
	}
}

func TestSpansAreBounded(t *testing.T) {
	s := spans{step: spanStep}
	for i := range 10_000 {
		s.add(spanAt(20*i), demand.Saturated)
	}
	got := s.since(time.Time{})
	if len(got) != 64 || !got[63].From.Equal(spanAt(20*9999)) || !got[0].From.Equal(spanAt(20*9936)) {
		t.Errorf("%d spans from %s on", len(got), got[0].From)
	}
}

package demand_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

var origin = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func at(i int) time.Time { return origin.Add(time.Duration(i) * classifyStep) }

func TestSpans(t *testing.T) {
	const known, limit, outage, missing = demand.Cause(0), demand.Saturated, demand.Outage, demand.Missing
	spans := demand.NewSpans(classifyStep)
	for i, cause := range []demand.Cause{
		missing, missing, known, limit, limit, known, limit, outage, known, missing,
		known, known, known, known, known, known, known, known, known, known, missing, limit,
	} {
		spans.Add(at(i), cause)
	}
	want := []demand.Span{
		{From: at(3), To: at(7), Cause: limit, Samples: 3}, // With a known one in between.
		{From: at(7), To: at(8), Cause: outage, Samples: 1},
		{From: at(9), To: at(10), Cause: missing, Samples: 1},
		{From: at(20), To: at(21), Cause: missing, Samples: 1},
		{From: at(21), To: at(22), Cause: limit, Samples: 1},
	}
	if diff := cmp.Diff(want, spans.Since(origin)); diff != "" {
		t.Errorf("missing samples before the first one are no gap (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want[3:], spans.Since(at(10))); diff != "" {
		t.Errorf("since the tenth step (-want +got)\n%s", diff)
	}
	if got, ok := spans.Current(at(22)); !ok || got != want[4] {
		t.Errorf("the newest is %+v, %v", got, ok)
	}
	if _, ok := spans.Current(at(31)); !ok {
		t.Error("a censored span ends within five minutes")
	}
	if got, ok := spans.Current(at(32)); ok {
		t.Errorf("after five minutes %+v lasts", got)
	}
	spans.Add(at(22), outage)
	if _, ok := spans.Current(at(24)); ok {
		t.Error("an outage lasts after its end")
	}
}

func TestSpansAreBounded(t *testing.T) {
	spans := demand.NewSpans(classifyStep)
	for i := range 10_000 {
		spans.Add(at(20*i), demand.Saturated)
	}
	got := spans.Since(time.Time{})
	if len(got) != 64 || !got[63].From.Equal(at(20*9999)) || !got[0].From.Equal(at(20*9936)) {
		t.Errorf("%d spans from %s on", len(got), got[0].From)
	}
}

package compare_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// The plan of a simulated fleet gets what the server's plan would get at that time, also where the history is longer than what is kept.
func TestRecordingKnowsWhatTheServerKnows(t *testing.T) {
	const days = 16
	whole := config(working(days))
	calls := 0
	r, err := compare.Record(t.Context(), whole, func() { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	if calls != days-1 || calls != compare.RecordedDays(whole.Demand) {
		t.Errorf("%d calls of progress for %d days", calls, days)
	}
	for _, length := range []time.Duration{day, 3*day + 7*time.Minute, 15*day + 9*time.Hour} {
		until := whole
		until.Demand.Values = whole.Demand.Values[:int(length/time.Minute)]
		want, err := compare.KnownOnTheServer(t.Context(), until)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Outlook(start().Add(length - compare.Step)) // After the last step.
		// The forecaster keeps some hours more than a plan uses.
		if more := want.ServedPeaks.Len() - got.ServedPeaks.Len(); more > 0 && got.ServedPeaks.Len() >= 14*288 {
			want.ServedPeaks.Start = want.ServedPeaks.TimeAt(more)
			want.ServedPeaks.Values = want.ServedPeaks.Values[more:]
		}
		if len(got.Windows) == 0 || got.ServedPeaks.Len() == 0 {
			t.Errorf("after %s, no forecast is known", length)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after %s: serves %v, peaks from %s, window %s; want %v, %s, %s", length, got.Served,
				got.ServedPeaks.Start, got.Window, want.Served, want.ServedPeaks.Start, want.Window)
		}
	}
	if got := r.Outlook(start()); got.Unreliable == "" {
		t.Errorf("%+v, want that nothing is known at the start", got)
	}
}

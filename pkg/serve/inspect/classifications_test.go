package inspect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

func TestOutlookOfClassifications(t *testing.T) {
	entry := snapshottest.Classified(snapshottest.Key("repaired"))
	got := inspect.Outlook(entry, snapshottest.Now()).Status.Classifications
	if len(got) != len(entry.Classifications) {
		t.Fatalf("%d repairs, want %d", len(got), len(entry.Classifications))
	}
	for i, want := range []string{"Masked", "Masked", "Censored", "Masked", "Censored"} {
		r, span := got[i], entry.Classifications[i]
		if r.Kind != want || r.Message != span.Cause.String() || !r.From.Time.Equal(span.From) ||
			!r.To.Time.Equal(span.To) || int(r.Samples) != span.Samples {
			t.Errorf("%+v, want %s of %+v", r, want, span)
		}
	}
}

// What is shaded is named in the legend, and told in words to those who cannot see it; where nothing is, nothing is
// named.
func TestThePlotNamesWhatIsShaded(t *testing.T) {
	repaired := snapshottest.Classified(snapshottest.Key("repaired"))
	ready := snapshottest.Ready(snapshottest.Key("ready"))
	snapshots := snapshottest.Store(repaired, ready)
	shaded, plain := browse(
		t,
		snapshots,
		"repaired",
		"plot",
	).Body.String(), browse(
		t,
		snapshots,
		"ready",
		"plot",
	).Body.String()
	wellFormed(t, shaded)
	for _, words := range []string{
		"censored (saturated)", "masked", "4 Mar 04:00:00 to 04:10:00 UTC: masked, " + demand.Outage.String(),
		"(180 of 200 samples): censored: the real demand may be higher, " + demand.Saturated.String(),
	} {
		if !strings.Contains(shaded, words) {
			t.Errorf("the plot does not say %q", words)
		}
		if strings.Contains(plain, words) {
			t.Errorf("the plot without repairs says %q", words)
		}
	}
	if strings.Contains(shaded, "NaN") {
		t.Error("the plot holds a coordinate that is no number")
	}
	if page := browse(
		t,
		snapshots,
		"repaired",
		"page",
	).Body.String(); !strings.Contains(
		page,
		"Demand classification",
	) ||
		!strings.Contains(page, demand.AtCapacity.String()) {
		t.Error("the page does not list the repairs")
	}
}

// Repairs that lie outside of the panel, or that are longer than it, are clipped.
func TestClassificationsAreClipped(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	now := snapshottest.Now()
	for _, from := range []time.Duration{-400 * time.Hour, -48 * time.Hour, time.Hour} {
		for _, cause := range []demand.Cause{demand.Saturated, demand.Missing} {
			entry.Classifications = append(entry.Classifications, demand.Span{
				From: now.Add(from), To: now.Add(from + 100*time.Hour), Cause: cause, Samples: 1,
			})
		}
	}
	svg := browse(t, snapshottest.Store(entry), "ready", "plot").Body.String()
	wellFormed(t, svg)
	if len(svg) > 400_000 {
		t.Errorf("the plot has %d bytes", len(svg))
	}
}

package inspect_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// Events are in the outlook and on its page before they come, with what they came to before.
func TestEventsAreShown(t *testing.T) {
	e, begin := snapshottest.Ready(snapshottest.Key("llama")), snapshottest.Now().Add(time.Hour)
	of := func(name string, known event.Knowledge) event.Occurrence {
		return event.Occurrence{Name: name, Start: begin, End: begin.Add(2 * time.Hour), Knowledge: known}
	}
	e.Events = []event.Announcement{
		{Occurrence: of("launch <b>", event.Knowledge{Times: 3})},
		{
			Occurrence: of("report", event.Knowledge{AtLeast: 400}),
			Effects: []event.Effect{
				{
					Start: begin.AddDate(0, 0, -14),
					Times: math.NaN(),
					Most:  math.NaN(),
				},
				{Start: begin.AddDate(0, 0, -7), Times: 2.5, Most: 380},
			},
		},
	}
	snapshots := snapshottest.Store(e)
	page := browse(t, snapshots, "llama", "page").Body.String()
	says(
		t,
		page,
		"launch &lt;b&gt;",
		"3 times the demand",
		"4 Mar 15:30 UTC, for 2 hours",
		"not in the history",
		"at least 400",
		"18 Feb: no samples; 25 Feb: 2.5 times the usual demand, with a maximum of 380",
	)
	outlook := inspect.Outlook(e, snapshottest.Now())
	got := outlook.Status.Events
	if len(got) != 2 || got[1].Known != "at least 400" || !got[1].Start.Time.Equal(begin) || len(got[1].Effects) != 2 ||
		got[1].Effects[0].Times != nil || *got[1].Effects[1].Highest != 380 {
		t.Errorf("%+v", got)
	}
}

package inspect_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// Work that may wait is in the outlook and on its page.
func TestDeferrableWorkIsShown(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Objective.Deferrable = &objective.Deferrable{
		Deadline:      10 * time.Minute,
		Arrived:       20,
		Missed:        1,
		Waiting:       0.5,
		DeadlineFloor: 96,
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(t, page, "Deadlines missed", "5%", "of 20 replica-hours of work that may wait 10m; 0.5 replica-hours are "+
		"waiting now and need a value of 96")
	got := inspect.Outlook(e, snapshottest.Now()).Status.Objective.Deferrable
	if got == nil || *got.Missed != 0.05 || *got.Needed != 96 || got.Deadline.Duration != 10*time.Minute {
		t.Errorf("%+v", got)
	}
}

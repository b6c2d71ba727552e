package inspect_test

import (
	"testing"

	"github.com/forewarm/forewarm/pkg/core/distribute"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// The parts of variants are in the outlook and on its page.
func TestVariantsAreShown(t *testing.T) {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Parts = []distribute.Part{
		{Name: "llama", Capacity: 64, Value: 100},
		{Name: "spot<b>", Capacity: 128, Value: 256, Starting: 128, Limited: true},
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(t, page, "Variants", "spot&lt;b&gt;", "256", "some replicas have no node; the other variants serve the rest")
	got := inspect.Outlook(e, snapshottest.Now()).Status.Variants
	if len(got) != 2 || got[0].Replicas != 2 || got[1].Replicas != 2 || got[1].Starting != 128 || !got[1].Limited {
		t.Errorf("%+v", got)
	}
}

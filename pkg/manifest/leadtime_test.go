package manifest_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/manifest"
)

func TestMeasuredLeadTimes(t *testing.T) {
	const auto = "  targetRef: {kind: Deployment, name: llama}\n  signal: {query: x}\n"
	measured := func(lead time.Duration) manifest.MeasuredLeadTime {
		return manifest.MeasuredLeadTime{Lead: lead, Source: "p90 of 12 starts"}
	}
	for _, c := range []struct {
		name, fields string
		measured     manifest.MeasuredLeadTime
		lead         time.Duration
		source       string
	}{
		{"nothing yet", "", manifest.MeasuredLeadTime{Source: "3 of 10 starts"}, 5 * time.Minute, "fallback 5m: 3 of 10 starts"},
		{"measured", "", measured(4 * time.Minute), 4 * time.Minute, "p90 of 12 starts"},
		{"fixed", "leadTime: {mode: Fixed, duration: 12m}", measured(4 * time.Minute), 12 * time.Minute, "fixed 12m"},
		{
			"a window of more steps than can be forecast", "step: 1s\n  history: 1d", measured(20 * time.Minute),
			1000*time.Second - 75*time.Second,
			"p90 of 12 starts; 20m is clamped to what a step of 1s and a history of 1d allow",
		},
		{
			"two windows longer than the history", "history: 20m", measured(20 * time.Minute),
			10*time.Minute - 75*time.Second,
			"p90 of 12 starts; 20m is clamped to what a step of 30s and a history of 20m allow",
		},
		{
			"a window shorter than the step", "step: 5m", measured(time.Minute), 225 * time.Second,
			"p90 of 12 starts; 1m is clamped to what a step of 5m and a history of 2w allow",
		},
	} {
		o := object(t, header+"spec:\n"+auto+"  "+c.fields+"\n")
		got := resolve(t, o, manifest.ClusterState{LeadTime: c.measured})
		if got.Lead != c.lead || got.LeadSource != c.source || got.Settings.Lead != c.lead {
			t.Errorf("%s: %s (policy %s), %q; want %s, %q",
				c.name, got.Lead, got.Settings.Lead, got.LeadSource, c.lead, c.source)
		}
		if got.StaleAfter < leadtime.Window(got.Lead) {
			t.Errorf("%s: stale after %s, within the window", c.name, got.StaleAfter)
		}
	}
}

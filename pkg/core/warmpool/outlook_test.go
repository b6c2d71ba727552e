package warmpool_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
)

func TestOutlookOf(t *testing.T) {
	key, now := snapshottest.Key("llama"), snapshottest.Now()
	ready := func(edit func(*snapshot.ForecastSnapshot)) *snapshot.ForecastSnapshot {
		e := snapshottest.Ready(key)
		edit(e)
		return e
	}
	for _, tt := range []struct {
		what  string
		entry *snapshot.ForecastSnapshot
		later time.Duration
		doubt string
	}{
		{"ready", snapshottest.Ready(key), 0, ""},
		{"a calibrated headroom", snapshottest.WithCostRatio(key), 0, ""},
		{"an old snapshot", snapshottest.Ready(key), time.Hour, "is stale: its newest sample is 1h0m30s old"},
		{"none yet", nil, 0, "is not loaded yet"},
		{"pending", snapshottest.Pending(key), 0, "has no history yet"},
		{"invalid", snapshottest.Invalid(key), 0, "is invalid"},
		{"stale", snapshottest.Stale(key), 0, "is stale: its newest sample is"},
		{"warming", snapshottest.Warming(key), 0, "is still warming up"},
		{"falling back", snapshottest.FallingBack(key), 0, "is served by a fallback"},
		{"worse than the last value", ready(func(e *snapshot.ForecastSnapshot) { e.Candidates[0].Skill = -0.25 }), 0, "is poorly forecast: its skill compared with the last value is -25 %, which is below -5 %"},
		{"a skill that is not known", ready(func(e *snapshot.ForecastSnapshot) { e.Candidates[0].Skill = math.NaN() }), 0, ""},
		{"a missing model", ready(func(e *snapshot.ForecastSnapshot) { e.PathModel = "ets" }), 0, "has no forecast yet"},
		{
			"a model that failed", ready(func(e *snapshot.ForecastSnapshot) { e.Candidates[0].Windows = nil }), 0,
			"has no forecast yet",
		},
	} {
		got := warmpool.OutlookOf(tt.entry, now.Add(tt.later))
		if (got.Unreliable == "") != (tt.doubt == "") || !strings.HasPrefix(got.Unreliable, tt.doubt) {
			t.Errorf("%s: %q, want %q", tt.what, got.Unreliable, tt.doubt)
		}
	}
	e := snapshottest.Ready(key)
	got := warmpool.OutlookOf(e, now)
	if got.Served != e.Decision.Value || got.Observed != e.Observed || got.Recent.Len() != e.Recent.Len() ||
		len(got.Windows) != len(e.Candidates[0].Windows) {
		t.Errorf("%+v differs from the entry", got)
	}
}

// From entries to a plan: 118 requests/s on 6 replicas of 20 each, and the demand rises.
func TestAPlanOfEntries(t *testing.T) {
	now := snapshottest.Now()
	var members []warmpool.Member
	for _, name := range []string{"llama", "phi"} {
		members = append(members, warmpool.Member{
			Name: name, Chunks: 1, Target: 20, Placed: 6,
			Outlook: warmpool.OutlookOf(snapshottest.Ready(snapshottest.Key(name)), now),
		})
	}
	plan, _ := warmpool.Memory{}.Plan(now, plain(), members, warmpool.Capacity{})
	if plan.Want != 4 || plan.Pod != 2 || plan.State != warmpool.Filling {
		t.Errorf("%+v", plan)
	}
	if want := "llama and phi need 16 chunks within 8m15s"; !strings.HasPrefix(plan.Message, want) {
		t.Errorf("%q, want %q", plan.Message, want)
	}
}

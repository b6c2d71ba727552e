package compare_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// A what-if is the comparison with that one thing changed, to the last bit.
func TestAWhatIfIsTheComparisonWithOneThingChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: other comparisons run their jobs at once")
	}
	c := config(working(2))
	c.Only = []string{compare.Forewarm}
	got, err := compare.WhatIfs(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	changes := []string{"lead time 2m30s", "lead time 1m15s", "lead time 1m0s", "wait 1m0s", "wait 2m0s", "wait 5m0s"}
	if len(got) != len(changes) {
		t.Errorf("%d changes, want %v: %+v", len(got), changes, got)
	}
	for i, one := range got {
		if i > 0 && one.ReplicaHours < got[i-1].ReplicaHours {
			t.Errorf("%s is cheaper than %s before it", one.Change, got[i-1].Change)
		}
		if !slices.Contains(changes, one.Change) {
			t.Errorf("%q, want of %v", one.Change, changes)
		}
		if one.Change != changes[0] && one.Change != changes[5] {
			continue
		}
		changed := c
		changed.Lead.Median, changed.Wait = one.LeadTime, one.Wait
		want := named(t, played(t, changed), compare.Forewarm)
		if one.ReplicaHours != want.Report.ReplicaHours || one.Late != want.Report.LateShare() ||
			one.MeetsObjective != want.MeetsObjective {
			t.Errorf("%+v, want %v replica-hours and %v late", one, want.Report.ReplicaHours, want.Report.LateShare())
		}
	}
}

// What is no improvement is not simulated: a lead time of a minute has no shorter minute, a wait of an hour no longer one.
func TestWhatIfsLeaveOutWhatIsThere(t *testing.T) {
	c := config(working(1))
	c.Lead.Median, c.Wait = time.Minute, time.Hour
	got, err := compare.WhatIfs(t.Context(), c, nil)
	if err != nil || len(got) != 2 {
		t.Errorf("%+v, %v, want 30s and 15s of lead time", got, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got, err := compare.WhatIfs(ended, c, nil); err != nil || len(got) != 0 {
		t.Errorf("interrupted at once: %+v, %v", got, err)
	}
}

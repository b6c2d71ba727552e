package compare_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// studied are the settings of a policy, without the first day.
func studied(t *testing.T, c compare.Config, s compare.Study, policy string) []compare.Setting {
	t.Helper()
	got, err := compare.RunStudy(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []compare.Setting
	first := 0
	for _, one := range got.Settings {
		switch {
		case one.Policy != policy:
		case one.FirstDay:
			first++
		default:
			out = append(out, one)
		}
	}
	if first == 0 || len(got.Shares.Late) == 0 == (policy == compare.Forewarm) {
		t.Errorf("%d settings on the first day, late shares %v", first, got.Shares.Late)
	}
	return out
}

// What a study has of an objective is what a comparison has; a larger constant headroom is dearer and no later.
func TestStudyIsTheComparison(t *testing.T) {
	c := short()
	c.Only = []string{compare.Forewarm, compare.BestTarget}
	want := named(t, played(t, c), compare.Forewarm)
	s := compare.Study{Objectives: []float64{0.01, 0.05}, Headrooms: []float64{0, 2, 11}, Judged: 1}
	got := studied(t, c, s, compare.Forewarm)
	if len(got) != 5 || got[0].Setting != 0.01 || got[1].Setting != 0.05 || !math.IsNaN(got[0].Headroom) ||
		got[4].Headroom != 11 {
		t.Fatalf("%+v", got)
	}
	if got[0].Late != want.Report.LateShare() || got[0].RelativeCost != want.Report.RelativeCost() {
		t.Errorf("%+v, in the comparison %v at %v", got[0], want.Report.LateShare(), want.Report.RelativeCost())
	}
	for i := 3; i < 5; i++ {
		if a, b := got[i-1], got[i]; !(b.RelativeCost >= a.RelativeCost) || b.Late > a.Late {
			t.Errorf("%+v after %+v", b, a)
		}
	}
	c.Only = []string{compare.BestTarget}
	targets := studied(t, c, s, compare.BestTarget)
	best := named(t, played(t, c), compare.BestTarget)
	for _, one := range targets {
		if one.Setting == best.Target && one.RelativeCost != best.Report.RelativeCost() {
			t.Errorf("%+v, in the comparison %v", one, best.Report.RelativeCost())
		}
	}
}

// Starts that vary are drawn several times, and the mean of the draws is none of them.
func TestStudyDraws(t *testing.T) {
	c := short()
	c.Lead, c.Only = compare.LeadTime{Median: 5 * time.Minute, P90: 15 * time.Minute}, []string{compare.BestTarget}
	one := studied(t, c, compare.Study{Objectives: []float64{0.01}}, compare.BestTarget)
	three := studied(t, c, compare.Study{Objectives: []float64{0.01}, Draws: 3}, compare.BestTarget)
	differ := 0
	for i := range one {
		if one[i].Late != three[i].Late {
			differ++
		}
	}
	if differ == 0 {
		t.Error("three draws are as one")
	}
}

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
		if one.ReplicaHours != want.Report.ReplicaHours || one.Limited != want.Report.LateShare() ||
			one.MeetsObjective != want.MeetsObjective {
			t.Errorf("%+v, want %v replica-hours and %v late", one, want.Report.ReplicaHours, want.Report.LateShare())
		}
	}
}

// Four workloads, each with a quarter of a GPU at $3.06 an hour, cost $3.06 an hour where they share one, instead of $12.24 on a
// GPU each.
func TestFourQuartersOfAGPUAreOne(t *testing.T) {
	c := config(working(1))
	c.HPA.Min, c.HPA.Max, c.GPUPrice, c.Only = 4, 4, 3.06, []string{compare.HPA}
	got, err := compare.Shapes(t.Context(), c, []compare.Shape{{Name: "whole"}, {Name: "quarter", GPUs: 0.25}}, nil)
	if err != nil || len(got) != 2 || got[0].Change != "whole" || got[1].Change != "quarter" {
		t.Fatalf("%+v, %v", got, err)
	}
	hours := named(t, played(t, c), compare.HPA).Report.Duration.Hours()
	for i, want := range []string{"$12.24", "$3.06"} {
		if price := fmt.Sprintf("$%.2f", got[i].Dollars()/hours); price != want {
			t.Errorf("%s: %s an hour, want %s", got[i].Change, price, want)
		}
	}
}

// A shape is the comparison with its capacity, GPUs and price, to the last bit; its capacity is checked.
func TestAShapeIsTheComparisonOnIt(t *testing.T) {
	c := config(working(1))
	c.Only, c.GPUPrice = []string{compare.Forewarm}, 3
	l4 := compare.Shape{Name: "l4", Price: 0.8, Capacity: 40, GPUs: 2}
	got, err := compare.Shapes(t.Context(), c, []compare.Shape{l4}, nil)
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	c.Capacity, c.GPUs, c.GPUPrice = l4.Capacity, l4.GPUs, l4.Price
	want, one := named(t, played(t, c), compare.Forewarm), got[0]
	if one.ReplicaHours != want.Report.ReplicaHours || one.Limited != want.Report.LateShare() ||
		one.MeetsObjective != want.MeetsObjective || one.Dollars() != 2*0.8*one.ReplicaHours {
		t.Errorf("%+v, want %v replica-hours and %v late", one, want.Report.ReplicaHours, want.Report.LateShare())
	}
	l4.Capacity = 1e-9
	if _, err := compare.Shapes(t.Context(), c, []compare.Shape{l4}, nil); err == nil ||
		!strings.Contains(err.Error(), "shape l4: capacity 1e-09") {
		t.Errorf("%v, want that the capacity is too small", err)
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

package compare_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// answered plays what is asked.
func answered(t *testing.T, c compare.Config, asked compare.Asked) []compare.Outcome {
	t.Helper()
	scenarios, err := asked.Scenarios(c)
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	got, err := compare.Play(t.Context(), c, scenarios, func(int, int, string) { done++ })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(scenarios) || done == 0 {
		t.Fatalf("%d outcomes of %d scenarios after %d units", len(got), len(scenarios), done)
	}
	return got
}

// A what-if is the comparison with that one thing changed, to the last bit.
func TestAWhatIfIsTheComparisonWithOneThingChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: other comparisons run their jobs at once")
	}
	c := config(working(2))
	c.Only = []string{compare.Forewarm}
	got := answered(t, c, compare.Asked{WhatIf: true})
	changes := []string{"lead time 2m30s", "lead time 1m15s", "lead time 1m0s", "wait 1m0s", "wait 2m0s", "wait 5m0s"}
	for i, one := range got {
		if one.Name != changes[i] {
			t.Errorf("%q, want %q", one.Name, changes[i])
		}
		if one.Name == changes[0] || one.Name == changes[5] {
			changed := c
			changed.Lead.Median, changed.Wait = one.LeadTime, one.Wait
			isForewarm(t, &one, changed)
		}
	}
}

// isForewarm wants the outcome to be what Forewarm takes in the comparison.
func isForewarm(t *testing.T, one *compare.Outcome, c compare.Config) {
	t.Helper()
	want := named(t, played(t, c), compare.Forewarm)
	if one.Report.ReplicaHours != want.Report.ReplicaHours || one.Limited != want.Report.LateShare() ||
		one.MeetsObjective != want.MeetsObjective {
		t.Errorf("%+v, want %v replica-hours and %v late", one, want.Report.ReplicaHours, want.Report.LateShare())
	}
}

// Four workloads, each with a quarter of a GPU at $3.06 an hour, cost $3.06 an hour where they share one, instead of $12.24 on a
// GPU each.
func TestFourQuartersOfAGPUAreOne(t *testing.T) {
	c := config(working(1))
	c.HPA.Min, c.HPA.Max, c.GPUPrice, c.Only = 4, 4, 3.06, []string{compare.HPA}
	got := answered(t, c, compare.Asked{Shapes: []compare.Shape{{Name: "whole"}, {Name: "quarter", GPUs: 0.25}}})
	if len(got) != 2 || got[0].Name != "whole" || got[1].Name != "quarter" {
		t.Fatalf("%+v", got)
	}
	hours := named(t, played(t, c), compare.HPA).Report.Duration.Hours()
	for i, want := range []string{"$12.24", "$3.06"} {
		if price := fmt.Sprintf("$%.2f", got[i].Dollars/hours); price != want {
			t.Errorf("%s: %s an hour, want %s", got[i].Name, price, want)
		}
	}
}

// A shape is the comparison with its capacity, GPUs and price, to the last bit.
func TestAShapeIsTheComparisonOnIt(t *testing.T) {
	c := config(working(1))
	c.Only, c.GPUPrice = []string{compare.Forewarm}, 3
	l4 := compare.Shape{Name: "l4", Price: 0.8, Capacity: 40, GPUs: 2}
	one := answered(t, c, compare.Asked{Shapes: []compare.Shape{l4}})[0]
	c.Capacity, c.GPUs, c.GPUPrice = l4.Capacity, l4.GPUs, l4.Price
	isForewarm(t, &one, c)
	if one.Dollars != 2*0.8*one.Report.ReplicaHours || one.GPUHours() != 2*one.Report.ReplicaHours {
		t.Errorf("%+v", one)
	}
}

// What is no improvement is not simulated: a lead time of a minute has no shorter minute, a wait of an hour no longer one.
func TestWhatIfsLeaveOutWhatIsThere(t *testing.T) {
	c := config(working(1))
	c.Lead.Median, c.Wait = time.Minute, time.Hour
	asked := compare.Asked{WhatIf: true}
	scenarios, err := asked.Scenarios(c)
	if err != nil || len(scenarios) != 2 {
		t.Errorf("%+v, %v, want 30s and 15s of lead time", scenarios, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got, err := compare.Play(ended, c, scenarios, nil); err != nil || len(got) != 0 {
		t.Errorf("interrupted at once: %+v, %v", got, err)
	}
}

// A cheap base that starts slowly and what starts soon cost less together than each alone, and keep the objective.
func TestVariantsTogether(t *testing.T) {
	c := config(working(6))
	c.Lead, c.GPUPrice, c.Only = compare.LeadTime{Median: 2 * time.Minute}, 1, []string{compare.Forewarm}
	base := compare.Variant{Name: "base", Lead: 10 * time.Minute, Price: .5, Min: 1, Max: 100}
	got := answered(t, c, compare.Asked{Variants: []compare.Variant{base}})
	if len(got) != 2 || got[0].Name != "own and base" || got[1].Name != "base alone" {
		t.Fatalf("%+v", got)
	}
	together, own := &got[0], named(t, played(t, c), compare.Forewarm).Report.ReplicaHours
	if len(together.Parts) != 2 || together.Dollars >= own || !together.MeetsObjective ||
		together.Parts[1].ReplicaHours < together.Parts[0].ReplicaHours {
		t.Errorf("together %+v, alone $%v", together, own)
	}
	if sum := together.Parts[0].ReplicaHours + .5*together.Parts[1].ReplicaHours; sum != together.Dollars {
		t.Errorf("%v dollars for %v", together.Dollars, together.Parts)
	}
	if alone := &got[1]; len(alone.Parts) != 0 || alone.Dollars != .5*alone.Report.ReplicaHours ||
		alone.LeadTime != base.Lead {
		t.Errorf("alone is %+v", alone)
	}
}

// Replicas that are lost make a variant more expensive or later.
func TestInterruptionsCount(t *testing.T) {
	c := config(working(3))
	c.GPUPrice = 1
	spot := compare.Variant{Name: "spot", Lead: c.Lead.Median, Min: 1, Max: 100}
	calm := answered(t, c, compare.Asked{Variants: []compare.Variant{spot}})[1]
	spot.Interruptions = 1
	lost := answered(t, c, compare.Asked{Variants: []compare.Variant{spot}})[1]
	if lost.Report.Late <= calm.Report.Late {
		t.Errorf("late with interruptions %v, without %v", lost.Report.Late, calm.Report.Late)
	}
}

// Where servers wake, fewer are awake; a spare without a forecast is there, too.
func TestWakes(t *testing.T) {
	c := config(working(6))
	c.Only = []string{compare.Forewarm}
	got := answered(t, c, compare.Asked{Wake: compare.Wake{Time: 5 * time.Second, Spare: 1}})
	starts := named(t, played(t, c), compare.Forewarm).Report
	wakes, spare := &got[0], &got[1]
	if wakes.Report.ReplicaHours >= starts.ReplicaHours || wakes.Asleep <= 0 || spare.Report.RelativeCost() <= 1 {
		t.Errorf("starts %+v, wakes %+v, spare %+v", starts, wakes, spare)
	}
}

// What cannot be played is found before anything is, and every problem is named.
func TestScenariosThatCannotBePlayed(t *testing.T) {
	base := compare.Variant{Name: "base", Lead: 10 * time.Minute, Max: 100}
	for want, change := range map[string]func(*compare.Config, *compare.Asked){
		"variants need the price of a GPU":            func(c *compare.Config, _ *compare.Asked) { c.GPUPrice = 0 },
		"variants and work that may wait":             func(c *compare.Config, _ *compare.Asked) { c.Deferrable, c.Deadline = .5, time.Hour },
		"two variants have the name base":             func(_ *compare.Config, a *compare.Asked) { a.Variants = append(a.Variants, base) },
		"two variants have the name own":              func(_ *compare.Config, a *compare.Asked) { a.Variants[0].Name = "own" },
		"variant base: capacity -1":                   func(_ *compare.Config, a *compare.Asked) { a.Variants[0].Capacity = -1 },
		"scenario l4: capacity 1e-09":                 func(_ *compare.Config, a *compare.Asked) { a.Shapes[0].Capacity = 1e-9 },
		"a wake time of 1h0m0s with 0 spare":          func(_ *compare.Config, a *compare.Asked) { a.Wake.Time = time.Hour },
		"an objective of 2; expected a share above 0": func(c *compare.Config, _ *compare.Asked) { c.Objective = 2 },
	} {
		c := config(working(1))
		c.GPUPrice = 1
		asked := compare.Asked{
			Shapes: []compare.Shape{
				{Name: "l4"},
			},
			Wake:     compare.Wake{Time: time.Second},
			Variants: []compare.Variant{base},
		}
		change(&c, &asked)
		if _, err := asked.Scenarios(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Of an interrupted run there are the outcomes that are complete.
func TestInterruptedScenariosAreLeftOut(t *testing.T) {
	c := config(working(3))
	c.Lead, c.GPUPrice, c.Workers = compare.LeadTime{Median: 2 * time.Minute}, 1, 1
	asked := compare.Asked{
		WhatIf: true, Shapes: []compare.Shape{{Name: "quarter", GPUs: .25}}, Wake: compare.Wake{Time: time.Second},
		Variants: []compare.Variant{{Name: "base", Lead: 10 * time.Minute, Max: 100}},
	}
	scenarios, err := asked.Scenarios(c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range scenarios {
		names = append(names, s.Name)
	}
	for _, stop := range []string{"lead time 1m0s", "quarter", "own and base"} {
		ctx, cancel := context.WithCancel(t.Context())
		got, err := compare.Play(ctx, c, scenarios, func(_, _ int, what string) {
			if what == stop {
				cancel()
			}
		})
		if want := slices.Index(names, stop) + 1; err != nil || len(got) != want {
			t.Errorf("%s: %d outcomes, want %d, %v", stop, len(got), want, err)
		}
		cancel()
	}
}

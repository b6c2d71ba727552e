package compare_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// A cheap base that starts slowly and what starts soon cost less together than each alone, and keep the objective.
func TestVariantsTogether(t *testing.T) {
	c := config(working(6))
	c.Lead, c.GPUPrice = compare.LeadTime{Median: 2 * time.Minute}, 1
	base := compare.Variant{Name: "base", Lead: 10 * time.Minute, Price: .5, Min: 1, Max: 100}
	done := 0
	got, err := compare.Variants(t.Context(), c, []compare.Variant{base}, func(int, int, string) { done++ })
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(got.Names, " ") != "own base" || len(got.Results) != 3 || got.Results[1].Name != "own" ||
		done == 0 {
		t.Fatalf("%+v after %d", got, done)
	}
	together, own := got.Together(), &got.Results[1]
	if together.Dollars >= own.Dollars || together.ReplicaHours[1] < together.ReplicaHours[0] || got.Demand <= 0 {
		t.Errorf("together %+v, alone %+v", together, own)
	}
	if sum := together.ReplicaHours[0] + .5*together.ReplicaHours[1]; sum != together.Dollars {
		t.Errorf("%v dollars for %v", together.Dollars, together.ReplicaHours)
	}
	if own.ReplicaHours[1] != 0 || got.Results[2].ReplicaHours[0] != 0 {
		t.Errorf("alone are %+v", got.Results[1:])
	}
	for change, want := range map[string]string{
		"price": "variants without a price of a GPU", "twice": "two variants base, want other names", "own": "two variants own",
	} {
		bad, others := c, []compare.Variant{base}
		switch change {
		case "price":
			bad.GPUPrice = 0
		case "twice":
			others = append(others, base)
		case "own":
			others[0].Name = "own"
		}
		if _, err := compare.Variants(
			t.Context(),
			bad,
			others,
			nil,
		); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// Where servers wake, fewer are awake; a spare without a forecast is there, too.
func TestWakes(t *testing.T) {
	c := config(working(6))
	got, err := compare.Wakes(t.Context(), c, compare.Wake{Time: 5 * time.Second, Spare: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wakes, spare := &got.Wakes[0], &got.Wakes[1]
	if wakes.Awake >= got.Starts.Awake || wakes.Asleep <= 0 || got.BreakEven(wakes) <= 0 || spare.Awake <= got.Demand {
		t.Errorf("%+v", got)
	}
	if _, err := compare.Wakes(t.Context(), c, compare.Wake{Time: time.Hour}, nil); err == nil {
		t.Error("a wake time above the lead time is accepted")
	}
}

// A scenario that was interrupted is left out: a report of half of its results would be wrong.
func TestInterruptedScenariosAreLeftOut(t *testing.T) {
	c := config(working(3))
	c.Lead, c.GPUPrice, c.Workers = compare.LeadTime{Median: 2 * time.Minute}, 1, 1
	asked := compare.Scenarios{
		WhatIf: true, Shapes: []compare.Shape{{Name: "quarter", GPUs: .25}}, Wake: compare.Wake{Time: time.Second},
		Variants: []compare.Variant{{Name: "base", Lead: 10 * time.Minute, Max: 100}},
	}
	for _, stop := range []string{"forewarm with lead time 1m0s", "forewarm with quarter", "servers that start", "variants together"} {
		ctx, cancel := context.WithCancel(t.Context())
		to := &compare.Comparison{}
		if err := asked.Answer(ctx, c, to, func(_, _ int, what string) {
			if what == stop {
				cancel()
			}
		}); err != nil || !to.Partial {
			t.Errorf("%s: partial %t, %v", stop, to.Partial, err)
		}
		if (to.Wakes != nil) != (stop == "variants together") || to.Variants != nil {
			t.Errorf("interrupted in %s: %+v and %+v", stop, to.Wakes, to.Variants)
		}
		cancel()
	}
}

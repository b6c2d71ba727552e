package report_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// withAnswers is the comparison with all that can be asked beside it.
func withAnswers(t *testing.T) *compare.Comparison {
	t.Helper()
	c := comparison(t)
	h100 := fleet.Shape{Name: "h100", Price: 3.06, Capacity: capacity, GPUs: 2}
	l40s := fleet.Shape{Name: "l40s", Price: 1.1, Capacity: 300, GPUs: 1}
	c.Shapes = []fleet.ShapeResult{
		{Shape: h100, Policy: compare.BestTarget, ReplicaHours: 1200, Late: 0.001, MeetsObjective: true},
		{Shape: h100, Policy: compare.Forewarm, ReplicaHours: 800, Late: 0.0097, MeetsObjective: true},
		{Shape: l40s, Policy: compare.BestTarget, ReplicaHours: 4500, Late: 0.02},
		{Shape: l40s, Policy: compare.Forewarm, ReplicaHours: 2600, Late: 0.0085, MeetsObjective: true},
	}
	var err error
	c.Sharing, err = fleet.Pack([]fleet.Load{
		{Name: "llama", Fraction: big.NewRat(1, 4), Replicas: 4},
		{Name: "bert", Fraction: big.NewRat(3, 10), Replicas: 3},
	}, fleet.TimeSlicing)
	if err != nil {
		t.Fatal(err)
	}
	ours := &c.Policies[slices.IndexFunc(c.Policies, func(p compare.PolicyResult) bool { return p.Name == compare.Forewarm })]
	replicas := make([]float64, len(ours.Timeline))
	for i, s := range ours.Timeline {
		replicas[i] = s.Paid
	}
	market := fleet.SpotMarket{Price: 1.1, Interruptions: 0.01}
	split, err := fleet.SplitFleet(replicas, ours.Report.ReplicaHours, h100, market, 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c.Spot = &split
	c.WhatIfs = []compare.WhatIf{
		{Change: "lead time 1m0s", LeadTime: time.Minute, ReplicaHours: ours.Report.ReplicaHours / 4, Late: 0.02},
		{Change: "wait 5m0s", Wait: 5 * time.Minute, ReplicaHours: ours.Report.ReplicaHours / 2, MeetsObjective: true},
	}
	return c
}

// answers are what the sections say, however they are told.
func answers() []string {
	return []string{
		"The largest saving within the objective: with wait 5m0s Forewarm takes ",
		"Cheapest with forewarm within 1% late: l40s, $2,860 against $4,896 on h100.",
		"Cheapest with hpa-best-target within 1% late: h100, $7,344.",
		"2 GPUs for $6.12 an hour instead of 7 for $21.42: 71% saved. 0.1 of a GPU is unused. No packing needs fewer.",
		"Time-slicing isolates neither memory nor faults",
		"With 12 replicas on demand and those above them on spot at $1.10, Forewarm costs $4,",
		"interruptions are expected. After each, the next replica is ready in 5m",
	}
}

func TestTextAnswers(t *testing.T) {
	told := text(t, withAnswers(t), 80)
	words := strings.Join(strings.Fields(told), " ")
	for _, want := range answers() {
		if !strings.Contains(words, want) {
			t.Errorf("not told: %s", want)
		}
	}
	if t.Failed() {
		t.Log(told)
	}
	if without := text(t, comparison(t), 80); strings.Contains(without, "Spot") ||
		strings.Contains(without, "Fractions") {
		t.Error("answers that nobody asked for")
	}
}

func TestPageAnswers(t *testing.T) {
	p := parsed(t, withAnswers(t))
	sections := of(p.all("section"), "answer")
	if len(sections) != 4 {
		t.Fatalf("%d answers, want 4", len(sections))
	}
	var all strings.Builder
	for _, s := range sections {
		heads := len(s.all("thead")[0].all("th"))
		for _, line := range s.all("tbody")[0].all("tr") {
			if len(line.children) != heads {
				t.Errorf("%d cells under %d headings: %s", len(line.children), heads, line.text)
			}
		}
		all.WriteString(s.text + " ")
	}
	told := strings.Join(strings.Fields(all.String()), " ")
	for _, want := range answers() {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %s", want)
		}
	}
}

func TestJSONAnswers(t *testing.T) {
	c := withAnswers(t)
	read := object(t, c)
	if shapes := list(t, read, "shapes"); len(shapes) != len(c.Shapes) {
		t.Errorf("%d shapes", len(shapes))
	}
	sharing := under(t, read, "sharing")
	for name, want := range map[string]any{
		"by": "time-slicing", "gpus": 2., "gpus_unsliced": 7., "gpus_at_least": 2., "gpus_wasted": 0.1,
		"dollars_per_hour": 6.12, "saved_fraction": c.Sharing.Saved(),
	} {
		if sharing[name] != want {
			t.Errorf("sharing: %s is %v, want %v", name, sharing[name], want)
		}
	}
	spot := under(t, read, "spot")
	for name, want := range map[string]any{
		"lead_time_seconds": 300., "replicas_on_demand": 12., "dollars": c.Spot.Dollars, "saved_fraction": c.Spot.Saved(),
		"interruptions_per_replica_hour": 0.01, "restarts": c.Spot.Restarts,
	} {
		if spot[name] != want {
			t.Errorf("spot: %s is %v, want %v", name, spot[name], want)
		}
	}
	for _, name := range []string{"shapes", "sharing", "spot"} {
		if v, there := object(t, comparison(t))[name]; there {
			t.Errorf("%s is %v and nobody asked", name, v)
		}
	}
}

func under(t *testing.T, of map[string]any, name string) map[string]any {
	t.Helper()
	out, ok := of[name].(map[string]any)
	if !ok {
		t.Fatalf("%s is %v", name, of[name])
	}
	return out
}

// What is not so is not said: nothing saved, no price, nothing that meets the objective.
func TestTextOfDisappointments(t *testing.T) {
	c := withAnswers(t)
	c.Assumptions.GPUPrice = 0
	for i := range c.Shapes {
		c.Shapes[i].MeetsObjective = false
	}
	c.Spot.Dollars = 2 * c.Spot.AllOnDemand
	var err error
	c.Sharing, err = fleet.Pack([]fleet.Load{{Name: "a", Fraction: big.NewRat(7, 10), Replicas: 2}}, fleet.MIG)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(text(t, c, 80)), " ")
	for _, want := range []string{
		"No shape keeps forewarm within 1% late.", "100.0% more, so spot does not pay",
		"2 GPUs instead of 2: nothing saved. 0.6 of a GPU is unused.", "MIG has instances of a few sizes only",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("not told: %s", want)
		}
	}
}

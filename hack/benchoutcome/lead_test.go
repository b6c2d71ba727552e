package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Half of the starts that are drawn take the median at most, nine in ten p90.
func TestDrawnStarts(t *testing.T) {
	l, err := leadOf("5m,p90=8m")
	if err != nil || l.planned() != 8*time.Minute || l.String() != "5m0s,p90=8m0s" {
		t.Fatal(l, err)
	}
	if again, problem := leadOf(l.String()); problem != nil || again != l {
		t.Errorf("%s is read as %s, %v", l, again, problem)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var draws []time.Duration
	for range 20_000 {
		draws = append(draws, l.pods().Draw(random))
	}
	slices.Sort(draws)
	for share, want := range map[float64]time.Duration{0.5: l.median, 0.9: l.p90} {
		// Four standard errors of the share are under 1.5 %, of which one is about 2 % of the lead time.
		if got := draws[int(share*float64(len(draws)))]; math.Abs(float64(got)/float64(want)-1) > 0.03 {
			t.Errorf("%v of the starts take %s at most, want %s", share, got, want)
		}
	}
	for _, wrong := range []string{"", "5", "5m,8m", "5m,p90=5m", "0s,p90=8m", "-5m"} {
		if _, err := leadOf(wrong); err == nil {
			t.Errorf("%q is no error", wrong)
		}
	}
}

// A line of drawn starts is the mean over the draws, and every policy meets the same.
func TestLineOfDrawnStarts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "llm_a", 60, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	args := []string{"--traces", dir, "--policy=stock300"}
	drawn, _ := output(t, append(args, "--lead=5m,p90=8m")...)
	again, _ := output(t, append(args, "--lead=5m,p90=8m")...)
	constant, _ := output(t, append(args, "--lead=5m")...)
	if diff := cmp.Diff(drawn, again); diff != "" {
		t.Errorf("other draws in a second run\n%s", diff)
	}
	late, before := 0.0, 0.0
	for i, l := range drawn {
		if l.Lead != "5m0s,p90=8m0s" || constant[i].Lead != "5m0s" {
			t.Fatalf("lead times %s and %s", l.Lead, constant[i].Lead)
		}
		late, before = late+l.Late, before+constant[i].Late
	}
	// Their mean is longer than their median.
	if !(late > before) {
		t.Errorf("in sum %v late, and %v with a constant lead time", late, before)
	}
}

// The first day is played as if the trace had no other, from its first sample on.
func TestFirstDay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "web_a", 200, cycle)
	write(t, dir, "llm_a", 200, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	traces, err := readTraces(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := options{lead: lead{median: 5 * time.Minute}, step: sync, firstDay: true}
	whole := newTrials(traces, o)[1]
	short := *whole
	short.demand = whole.firstDay()
	for _, name := range []string{"stock300", "forewarm-k"} {
		r, err := policyNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := whole.sweep(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := short.sweep(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.first, got.first); diff != "" || len(got.first) != len(got.lines) {
			t.Errorf("%s, %d first days (-of the day alone +of the trace)\n%s", name, len(got.first), diff)
		}
		first, later := got.first[0], got.lines[0]
		if !first.FirstDay || later.FirstDay || first.Cost == later.Cost {
			t.Errorf("%s: %+v and %+v", name, first, later)
		}
	}
}

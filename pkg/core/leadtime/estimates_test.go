package leadtime_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// mixedStarts are starts of 2 min on an existing node, and starts of 6 min that waited for one.
func mixedStarts(placed, wait int) []leadtime.Start {
	out := slices.Repeat([]leadtime.Start{waited(noon(), 4*time.Minute, 6*time.Minute)}, wait)
	return append(out, slices.Repeat([]leadtime.Start{start(noon(), 2*time.Minute)}, placed)...)
}

func TestEstimates(t *testing.T) {
	const pod, both = 2 * time.Minute, 6 * time.Minute
	for _, c := range []struct {
		name                 string
		placed, waited       int
		wantPlaced           time.Duration
		wantWaited, wantNode time.Duration
	}{
		{"nothing is known", 0, 0, 0, 0, 0},
		{"nine of a kind are too few", 9, 9, 0, 0, 0},
		{"enough of both", 10, 10, pod, both, both - pod},
		{"every start waits: what a pod takes without is not known", 0, 30, 0, both, 0},
		{"no start waits", 30, 0, pod, 0, 0},
		{"few that wait", 30, 9, pod, 0, 0},
	} {
		record := &leadtime.Record{}
		record.AddStarts(mixedStarts(c.placed, c.waited), settled())
		parts := record.Estimates(settled().Add(time.Minute))
		node := parts.Node()
		for _, p := range []struct {
			kind   string
			got    leadtime.Estimate
			want   time.Duration
			starts int
		}{
			{"placed", parts.Placed, c.wantPlaced, c.placed},
			{"waited", parts.Waited, c.wantWaited, c.waited},
			{"node", node, c.wantNode, min(c.placed, c.waited)},
		} {
			// The difference of two buckets is off by up to a bucket of the longer.
			near := p.got.Lead == p.want || about(p.got.Lead, p.want) ||
				p.kind == "node" && about(p.got.Lead+20*time.Second, p.want)
			if p.got.Known != (p.want > 0) || !near || p.got.Starts != int64(p.starts) {
				t.Errorf("%s, %s: %+v, want %s of %d starts", c.name, p.kind, p.got, p.want, p.starts)
			}
		}
	}
	faster := &leadtime.Record{}
	faster.AddStarts(append(starts(10, noon(), 5*time.Minute),
		slices.Repeat([]leadtime.Start{waited(noon(), time.Minute, 3*time.Minute)}, 10)...), settled())
	if node := faster.Estimates(settled().Add(time.Minute)).Node(); node.Lead != 0 || !node.Known {
		t.Errorf("a node's part of %+v where starts that waited were the faster ones, want 0", node)
	}
}

func TestEstimatesAreAnnounced(t *testing.T) {
	record, now := &leadtime.Record{}, noon().Add(time.Hour)
	record.AddStarts(mixedStarts(10, 10), now)
	if got := record.Estimates(now.Add(59 * time.Second)); got.Placed.Known || got.Node().Known {
		t.Errorf("in use before replicas can have heard of it: %+v", got)
	}
	first := record.Estimates(now.Add(time.Minute))
	if !first.Placed.Known || !time.Unix(record.PlacedLead.Since, 0).Equal(now.Add(time.Minute)) {
		t.Errorf("a minute later %+v, since %s", first, time.Unix(record.PlacedLead.Since, 0))
	}
	later := now.Add(2 * time.Hour)
	record.AddStarts(starts(20, now.Add(time.Minute), 4*time.Minute), later)
	if got := record.Estimates(later); got.Placed.Lead != first.Placed.Lead {
		t.Errorf("%s while the next is announced, want %s", got.Placed.Lead, first.Placed.Lead)
	}
	if got := record.Estimates(later.Add(time.Minute)); !about(got.Placed.Lead, 4*time.Minute) ||
		got.Waited.Lead != first.Waited.Lead {
		t.Errorf("after that %+v, want 4m, and the other kind as before", got)
	}
}

func TestSmallChangesKeepTheEstimates(t *testing.T) {
	record := &leadtime.Record{}
	record.AddStarts(mixedStarts(20, 20), noon().Add(time.Hour))
	want := record.Estimates(settled())
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range 500 {
		ready := noon().Add(time.Duration(i+30) * time.Minute)
		s := start(ready, time.Duration(118+rng.IntN(6))*time.Second)
		if rng.IntN(5) == 0 {
			s = waited(ready, 4*time.Minute, time.Duration(350+rng.IntN(20))*time.Second)
		}
		record.AddStarts([]leadtime.Start{s}, ready.Add(time.Hour))
		got := record.Estimates(settled())
		if got.Placed.Lead != want.Placed.Lead || got.Waited.Lead != want.Waited.Lead {
			t.Fatalf("after %d more starts of about the same %+v instead of %+v", i, got, want)
		}
	}
}

// A pool that works leaves no start that waits. The node's lead time is still known months later, and a single slow
// start does not change it then.
func TestAFadedPopulationKeepsItsLeadTime(t *testing.T) {
	record := &leadtime.Record{}
	record.AddStarts(mixedStarts(20, 20), noon().Add(time.Hour))
	want := record.Estimates(settled())
	for day := range 90 {
		ready := noon().Add(time.Duration(day+1) * 24 * time.Hour)
		record.AddStarts(starts(20, ready, 2*time.Minute), ready.Add(time.Hour))
	}
	if got := record.Estimates(settled()); got.Waited != want.Waited || got.Node().Lead != want.Node().Lead {
		t.Errorf("after 90 days in which none waited %+v, want %+v", got, want)
	}
	last := noon().Add(100 * 24 * time.Hour)
	record.AddStarts([]leadtime.Start{waited(last, 25*time.Minute, 28*time.Minute)}, last.Add(time.Hour))
	if got := record.Estimates(settled()); got.Waited.Lead != want.Waited.Lead || got.Waited.Starts != 21 {
		t.Errorf("one slow start alone makes it %+v, want %s", got.Waited, want.Waited.Lead)
	}
	next := waited(last.Add(time.Hour), 8*time.Minute, 10*time.Minute)
	record.AddStarts(slices.Repeat([]leadtime.Start{next}, 12), settled())
	if got := record.Estimates(settled().Add(time.Hour)); !about(got.Waited.Lead, 10*time.Minute) {
		t.Errorf("a dozen of 10m make it %+v", got.Waited)
	}
}

// heldStarts are starts on nodes that a warm pool held.
func heldStarts(starts []leadtime.Start) []leadtime.Start {
	for i := range starts {
		starts[i].Held = true
	}
	return starts
}

// For three months a pool holds nodes, and no start waits. The lead time without the pool stays as it was, for the day
// on which its budget is spent; the one with the pool follows the pods, which have become faster.
func TestTheLeadTimeWithoutThePoolIsKept(t *testing.T) {
	record := &leadtime.Record{}
	record.AddStarts(mixedStarts(20, 20), noon().Add(time.Hour))
	without := record.LeadTime(settled())
	for day := range 90 {
		ready := noon().Add(time.Duration(day+1) * 24 * time.Hour)
		record.AddStarts(heldStarts(starts(20, ready, 90*time.Second)), ready.Add(time.Hour))
		if got := record.LeadTime(settled()); got != without {
			t.Fatalf("after %d days under a pool the lead time without it is %s, was %s", day+1, got, without)
		}
	}
	parts := record.Estimates(settled())
	if !about(parts.Placed.Lead, 90*time.Second) || !about(parts.Waited.Lead, 6*time.Minute) ||
		record.Starts() != 1840 {
		t.Errorf("parts %+v of %d starts, want 1m30s and 6m of 1840", parts, record.Starts())
	}
	want := "p90 of 40 starts: 2m6s for 20 on existing nodes, 6m7s for 20 that waited for a node; " +
		"1800 more on nodes that a warm pool held"
	if got := record.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// Without the pool, new starts count again at once.
	next := noon().Add(100 * 24 * time.Hour)
	record.AddStarts(starts(200, next, time.Minute), next.Add(24*time.Hour))
	if got := record.LeadTime(settled()); !about(got, time.Minute) {
		t.Errorf("200 starts of a minute without a pool make it %s", got)
	}
}

// A workload that always had a pool has no lead time without one.
func TestOnlyHeldStarts(t *testing.T) {
	record := recordOf(t, heldStarts(starts(12, noon(), 2*time.Minute))...)
	if got := leadInUse(record); got != 0 {
		t.Errorf("without a pool %s, want none", got)
	}
	if got := record.Estimates(settled().Add(time.Hour)).Placed; !got.Known || !about(got.Lead, 2*time.Minute) ||
		got.Starts != 12 {
		t.Errorf("%+v, want 2m of 12", got)
	}
	if got, want := record.String(), "0 of 10 starts measured; 12 more on nodes that a warm pool held"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A start that waits in spite of a pool counts as waited.
	slow := []leadtime.Start{waited(noon().Add(time.Hour), 4*time.Minute, 6*time.Minute)}
	record.AddStarts(heldStarts(slow), settled())
	if record.Waited.Count != 1 {
		t.Errorf("%d waited, want 1", record.Waited.Count)
	}
}

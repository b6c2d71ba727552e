package leadtime_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// noon is the start of the tests.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// start is a start on an existing node.
func start(ready time.Time, took time.Duration) leadtime.Start {
	created := ready.Add(-took)
	return leadtime.Start{Created: created, Scheduled: created, Ready: ready}
}

// waited is a start that waited for its node.
func waited(ready time.Time, wait, took time.Duration) leadtime.Start {
	s := start(ready, took)
	s.Scheduled = s.Created.Add(wait)
	return s
}

// starts are n equally long starts, one a minute.
func starts(n int, from time.Time, took time.Duration) []leadtime.Start {
	out := make([]leadtime.Start, n)
	for i := range out {
		out[i] = start(from.Add(time.Duration(i)*time.Minute), took)
	}
	return out
}

// recordOf is the record of starts that are long past.
func recordOf(t *testing.T, starts ...leadtime.Start) *leadtime.Record {
	t.Helper()
	record := &leadtime.Record{}
	if !record.AddStarts(starts, settled()) {
		t.Fatal("nothing was counted")
	}
	return record
}

// settled is a time at which all starts of the tests are counted and the lead time is in use.
func settled() time.Time { return noon().Add(200 * 24 * time.Hour) }

// leadInUse is the lead time in use at the end.
func leadInUse(r *leadtime.Record) time.Duration { return r.LeadTime(settled().Add(time.Hour)) }

// about reports whether a duration is within 5 % and a second above another: one bucket and the rounding.
func about(got, want time.Duration) bool {
	return got >= want && got <= want+want/20+time.Second
}

func TestLeadTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		starts []leadtime.Start
		want   time.Duration
	}{
		{"nine starts are too few", starts(9, noon(), 4*time.Minute), 0},
		{"ten are enough", starts(10, noon(), 4*time.Minute), 4 * time.Minute},
		{
			"one slow start in ten is the tenth that may be slower",
			append(starts(9, noon(), 2*time.Minute), start(noon().Add(time.Hour), 20*time.Minute)), 20 * time.Minute,
		},
		{
			"one in twenty is not", append(starts(19, noon(), 2*time.Minute), start(noon(), 20*time.Minute)),
			2 * time.Minute,
		},
		{
			"where one start in five waits for a node, the lead time holds that wait",
			append(starts(12, noon(), 2*time.Minute),
				waited(noon(), 4*time.Minute, 6*time.Minute), waited(noon(), 4*time.Minute, 6*time.Minute),
				waited(noon(), 4*time.Minute, 6*time.Minute)),
			6 * time.Minute,
		},
		{
			"where one in fifty does, it does not",
			append(starts(49, noon(), 2*time.Minute), waited(noon(), 4*time.Minute, 6*time.Minute)), 2 * time.Minute,
		},
		{
			"no start counts as more than two hours",
			slices.Repeat([]leadtime.Start{waited(noon(), 29*time.Minute, 2*time.Hour+20*time.Minute)}, 12), 2 * time.Hour,
		},
		{"a start within the second counts as a second", starts(12, noon(), time.Millisecond), time.Second},
		{
			"what is learnt from one rollout of 300 pods at once",
			slices.Repeat([]leadtime.Start{start(noon(), 90*time.Second)}, 300), 90 * time.Second,
		},
	} {
		if got := leadInUse(recordOf(t, c.starts...)); !about(got, c.want) && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestInvalidStartsAreNotCounted(t *testing.T) {
	for _, c := range []struct {
		name  string
		start leadtime.Start
		want  error
	}{
		{"ready before it was created", start(noon(), -time.Minute), leadtime.ErrClocks},
		{"ready when it was created", start(noon(), 0), leadtime.ErrClocks},
		{"never ready", leadtime.Start{Created: noon(), Scheduled: noon()}, leadtime.ErrClocks},
		{"never created", leadtime.Start{Ready: noon()}, leadtime.ErrClocks},
		{"scheduled after it was ready", waited(noon(), 5*time.Minute, 4*time.Minute), leadtime.ErrClocks},
		{"scheduled a second before it was created", waited(noon(), -time.Second, 4*time.Minute), nil},
		{"no scheduler", leadtime.Start{Created: noon().Add(-time.Minute), Ready: noon()}, nil},
		{
			"the node's clock is two minutes ahead of the scheduler's",
			leadtime.Start{
				Created: noon(), Scheduled: noon().Add(time.Second),
				Acknowledged: noon().Add(2 * time.Minute), Ready: noon().Add(5 * time.Minute),
			},
			leadtime.ErrClocks,
		},
		{"waited half an hour for a node", waited(noon(), 30*time.Minute, 40*time.Minute), nil},
		{"two hours on a node that waited for", waited(noon(), 30*time.Minute, 150*time.Minute), nil},
		{"ready hours later", start(noon(), 121*time.Minute), leadtime.ErrStuck},
		{"no node for longer than that", waited(noon(), 31*time.Minute, 40*time.Minute), leadtime.ErrShortage},
	} {
		if err := c.start.Validate(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		record := &leadtime.Record{}
		if counted := record.AddStarts([]leadtime.Start{c.start}, settled()); counted != (c.want == nil) {
			t.Errorf("%s: counted: %v", c.name, counted)
		}
	}
}

func TestNothingIsCountedTwice(t *testing.T) {
	starts := starts(15, noon(), 3*time.Minute)
	once := recordOf(t, starts...)
	if once.AddStarts(starts, settled()) {
		t.Error("the same starts count again")
	}
	// Two leaders take turns, each with the starts that it observed: all of them, late, in an order of its own.
	turns, rng := &leadtime.Record{}, rand.New(rand.NewPCG(1, 2))
	for now := noon(); now.Before(noon().Add(20 * time.Minute)); now = now.Add(17 * time.Second) {
		seen := slices.DeleteFunc(slices.Clone(starts), func(s leadtime.Start) bool { return s.Ready.After(now) })
		rng.Shuffle(len(seen), func(i, j int) { seen[i], seen[j] = seen[j], seen[i] })
		turns.AddStarts(seen, now)
	}
	if turns.Starts() != 15 || once.Starts() != 15 {
		t.Errorf("%d and %d starts, want 15", turns.Starts(), once.Starts())
	}
}

func TestStartsSettleBeforeTheyCount(t *testing.T) {
	record := &leadtime.Record{}
	if record.AddStarts(starts(1, noon(), time.Minute), noon().Add(59*time.Second)) {
		t.Error("a start of 59 s ago counts, though one of the same second may still be unknown")
	}
	if record.AddStarts(starts(1, noon().Add(24*time.Hour), time.Minute), noon().Add(time.Minute)) {
		t.Error("a start of tomorrow counts")
	}
	pair := append(starts(1, noon(), time.Minute), starts(1, noon(), 2*time.Minute)...)
	if !record.AddStarts(pair, noon().Add(time.Minute)) || record.Starts() != 2 {
		t.Errorf("%d starts of the same second, want 2", record.Starts())
	}
}

func TestANewLeadTimeIsAnnounced(t *testing.T) {
	record, now := &leadtime.Record{}, noon().Add(time.Hour)
	record.AddStarts(starts(10, noon(), 4*time.Minute), now)
	if got := record.LeadTime(now.Add(59 * time.Second)); got != 0 {
		t.Errorf("in use before replicas can have heard of it: %s", got)
	}
	first := record.LeadTime(now.Add(time.Minute))
	if !about(first, 4*time.Minute) || !time.Unix(record.Lead.Since, 0).Equal(now.Add(time.Minute)) {
		t.Errorf("a minute later %s since %s", first, time.Unix(record.Lead.Since, 0))
	}
	// A slower model: the first lead time stays in use until the second one takes effect.
	later := now.Add(2 * time.Hour)
	record.AddStarts(starts(20, now.Add(time.Minute), 8*time.Minute), later)
	if got := record.LeadTime(later); got != first {
		t.Errorf("%s while the next is announced, want %s", got, first)
	}
	if got := record.LeadTime(later.Add(time.Minute)); !about(got, 8*time.Minute) {
		t.Errorf("%s after that, want 8m", got)
	}
}

func TestSmallChangesKeepTheLeadTime(t *testing.T) {
	record := &leadtime.Record{}
	record.AddStarts(starts(20, noon(), 200*time.Second), noon().Add(time.Hour))
	want := record.LeadTime(settled())
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 500 {
		ready := noon().Add(time.Duration(i+30) * time.Minute)
		record.AddStarts([]leadtime.Start{start(ready, time.Duration(195+rng.IntN(11))*time.Second)},
			ready.Add(time.Hour))
		if got := record.LeadTime(settled()); got != want {
			t.Fatalf("after %d more starts of about the same %s instead of %s", i, got, want)
		}
	}
}

// A rollout that hung counts as four times the usual start; starts that are ten times as slow from now on are learned all the same.
func TestARolloutThatHungIsNoStart(t *testing.T) {
	record := recordOf(t, starts(20, noon(), 2*time.Minute)...)
	later := settled().Add(24 * time.Hour)
	record.AddStarts(starts(10, later.Add(-time.Hour), 100*time.Minute), later)
	// 126 s is the bucket of 2 minutes.
	if got := record.LeadTime(later.Add(time.Hour)); !about(got, 4*126*time.Second) {
		t.Errorf("%s after ten starts that hung for 100 minutes, want four times the 2m6s in use", got)
	}
	record = recordOf(t, starts(20, noon(), 2*time.Minute)...)
	for i := range 3 {
		later = settled().Add(time.Duration(i+1) * 24 * time.Hour)
		record.AddStarts(starts(20, later.Add(-time.Hour), 20*time.Minute), later)
	}
	if got := record.LeadTime(later.Add(time.Hour)); !about(got, 20*time.Minute) {
		t.Errorf("%s after three days of starts of 20 minutes", got)
	}
}

func TestOldStartsFade(t *testing.T) {
	const day = 24 * time.Hour
	slow, fast := 10*time.Minute, 2*time.Minute
	// Twenty starts a day: slow for twenty days, then fast.
	run := func(days int) time.Duration {
		record := &leadtime.Record{}
		for d := range 20 + days {
			took := slow
			if d >= 20 {
				took = fast
			}
			record.AddStarts(starts(20, noon().Add(time.Duration(d)*day), took),
				noon().Add(time.Duration(d)*day+time.Hour))
		}
		return record.LeadTime(settled())
	}
	if got := run(3); !about(got, slow) {
		t.Errorf("after three fast days %s, want still %s", got, slow)
	}
	if got := run(8); !about(got, fast) {
		t.Errorf("after eight fast days %s, want %s", got, fast)
	}
	record := recordOf(t, starts(100, noon(), slow)...)
	record.AddStarts(starts(1, noon().Add(150*day), fast), settled())
	if got := leadInUse(record); !about(got, slow) {
		t.Errorf("after 150 days of rest one start decides alone: %s", got)
	}
}

func TestDescriptions(t *testing.T) {
	placed := starts(11, noon(), 230*time.Second)
	slow := []leadtime.Start{waited(noon(), 5*time.Minute, 560*time.Second)}
	for _, c := range []struct {
		starts []leadtime.Start
		want   string
	}{
		{placed[:3], "3 of 10 starts measured"},
		{placed, "p90 of 11 starts, all on existing nodes"},
		{slices.Repeat(slow, 12), "p90 of 12 starts, all of which waited for a node"},
		{append(slow, placed...), "p90 of 12 starts: 3m57s for 11 on existing nodes, 9m29s for 1 that waited for a node"},
	} {
		if got := recordOf(t, c.starts...).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := (&leadtime.Record{}).String(); got != "0 of 10 starts measured" {
		t.Errorf("nothing measured: %q", got)
	}
	for _, w := range []leadtime.Workload{
		{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"}, {APIVersion: "v1", Kind: "ReplicationController", Name: "b"},
	} {
		want := map[string]string{"a": "Deployment.apps/a", "b": "ReplicationController/b"}[w.Name]
		if got := w.Ref(); got != want {
			t.Errorf("%+v is %q, want %q", w, got, want)
		}
	}
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*leadtime.Record){
		"a negative lead time":       func(r *leadtime.Record) { r.Lead.Value = -1 },
		"a lead time of days":        func(r *leadtime.Record) { r.PlacedLead.Value = 86400 },
		"a lead time of days before": func(r *leadtime.Record) { r.WaitedLead.Previous = 86400 },
		"a change before 1970":       func(r *leadtime.Record) { r.WaitedLead.Since = -1 },
		"a change after all time":    func(r *leadtime.Record) { r.Lead.Since = math.MaxInt64 },
		"less than no starts":        func(r *leadtime.Record) { r.Held.Count = -1 },
		"more starts than there are": func(r *leadtime.Record) { r.Held.Count = math.MaxInt64 },
		"less than no weight":        func(r *leadtime.Record) { r.Placed.Histogram[7] = -1 },
		"a weight too heavy":         func(r *leadtime.Record) { r.Waited.Histogram[183] = 1 << 53 },
		"counted through all time":   func(r *leadtime.Record) { r.Through = math.MaxInt64 },
		"a half-life before 1970":    func(r *leadtime.Record) { r.Period = -1 },
		"a half-life after all time": func(r *leadtime.Record) { r.Period = math.MaxInt64 },
	} {
		record := recordOf(t, append(starts(12, noon(), 2*time.Minute), waited(noon(), time.Minute, 4*time.Minute))...)
		if err := record.Validate(); err != nil {
			t.Fatal(err)
		}
		spoil(record)
		if err := record.Validate(); !errors.Is(err, leadtime.ErrRecord) || len(err.Error()) > 300 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkAddStarts(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprintf("after %d starts", n), func(b *testing.B) {
			record := &leadtime.Record{}
			ready := noon()
			record.AddStarts(slices.Repeat([]leadtime.Start{start(ready, time.Minute)}, n), settled())
			for b.Loop() {
				ready = ready.Add(time.Minute)
				record.AddStarts([]leadtime.Start{start(ready, time.Minute)}, ready.Add(time.Hour))
			}
		})
	}
}

// The median is in use from the same moment as the lead time, and replaced when it differs by enough.
func TestMedianLeadTime(t *testing.T) {
	var record leadtime.Record
	inUse := func(when string, now time.Time, wantLead, wantMedian time.Duration) {
		t.Helper()
		lead, median := record.LeadTime(now), record.MedianLeadTime(now)
		if !about(lead, wantLead) || !about(median, wantMedian) {
			t.Errorf("%s: lead time %s, median %s, want %s and %s", when, lead, median, wantLead, wantMedian)
		}
	}
	now := settled()
	record.AddStarts(slices.Concat(slices.Repeat([]leadtime.Start{start(noon(), 2*time.Minute)}, 16),
		slices.Repeat([]leadtime.Start{start(noon(), 6*time.Minute)}, 4)), now)
	if lead, median := record.LeadTime(now), record.MedianLeadTime(now); lead != 0 || median != 0 {
		t.Errorf("%s and %s at once, want notice", lead, median)
	}
	now = now.Add(time.Minute)
	inUse("after the notice", now, 6*time.Minute, 2*time.Minute)
	if got := record.Estimates(now).Placed.Median; !about(got, 2*time.Minute) {
		t.Errorf("median %s of the starts on existing nodes, want 2m", got)
	}
	later := now.Add(time.Hour)
	record.AddStarts(slices.Repeat([]leadtime.Start{start(noon().Add(time.Hour), 6*time.Minute)}, 30), later)
	inUse("after thirty slower starts", later.Add(time.Minute), 6*time.Minute, 6*time.Minute)
}

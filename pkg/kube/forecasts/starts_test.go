package forecasts_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

// dawn is when the starts of these tests begin.
func dawn() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func startAt(ready time.Time, took time.Duration) leadtime.Start {
	created := ready.Add(-took)
	return leadtime.Start{Created: created, Scheduled: created, Ready: ready}
}

// random is a record of many starts of all kinds.
func random(seed uint64) *leadtime.Record {
	rng := rand.New(rand.NewPCG(seed, 0))
	record, ready := &leadtime.Record{}, dawn()
	for range rng.IntN(300) {
		ready = ready.Add(time.Duration(rng.ExpFloat64() * float64(3*time.Hour)))
		took := time.Duration(math.Exp(rng.NormFloat64()*2) * float64(3*time.Minute))
		s := startAt(ready, took)
		if rng.IntN(4) == 0 {
			s.Scheduled = s.Created.Add(took / 2)
		}
		s.Held = rng.IntN(3) == 0
		record.AddStarts([]leadtime.Start{s}, ready.Add(2*time.Minute))
	}
	return record
}

// written is a record as the API server keeps it, and how long that is.
func written(t *testing.T, r *leadtime.Record) (held *v1alpha1.Starts, size int) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(forecasts.StartsOf(llama, r))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	held = &v1alpha1.Starts{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(read, held); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return held, len(text)
}

func TestAStatusIsTheRecord(t *testing.T) {
	longest := 0
	for seed := range uint64(300) {
		want := random(seed)
		held, size := written(t, want)
		longest = max(longest, size)
		got, err := forecasts.RecordIn(held)
		if err != nil || got != *want {
			t.Fatalf("%+v reads as another record: %v", held, err)
		}
		// What follows is the same, too.
		late := dawn().Add(200 * 24 * time.Hour)
		next := slices.Repeat([]leadtime.Start{startAt(dawn().Add(100*24*time.Hour), 7*time.Minute)}, 12)
		got.AddStarts(next, late)
		want.AddStarts(next, late)
		if got != *want {
			t.Fatalf("%+v goes on differently", held)
		}
	}
	t.Logf("the longest has %d bytes", longest)
	if longest > 4096 {
		t.Errorf("%d bytes in a status", longest)
	}
}

// The greatest record that can be: every bucket of every kind full.
func TestAStatusHasABound(t *testing.T) {
	r := leadtime.Record{Through: 253_402_300_799, Period: 1_466_448}
	for _, c := range []*leadtime.InUse{&r.Lead, &r.PlacedLead, &r.WaitedLead} {
		*c = leadtime.InUse{Value: 7200, Previous: 7200, Since: 253_402_300_799}
	}
	for _, p := range []*leadtime.Population{&r.Placed, &r.Held, &r.Waited} {
		p.Count = 1 << 48
		for i := range p.Histogram {
			p.Histogram[i] = 1 << 48
		}
	}
	held, size := written(t, &r)
	if got, err := forecasts.RecordIn(held); err != nil || got != r {
		t.Errorf("it is not read again: %v", err)
	}
	if size > 13<<10 {
		t.Errorf("%d bytes in a status", size)
	}
}

func TestStatusesThatAreNoRecord(t *testing.T) {
	weights := func(bucket string, weight v1alpha1.BucketWeight) v1alpha1.StartHistogram {
		return v1alpha1.StartHistogram{BucketWeights: map[string]v1alpha1.BucketWeight{bucket: weight}}
	}
	for name, spoil := range map[string]func(*v1alpha1.Starts){
		"a bucket too many":        func(s *v1alpha1.Starts) { s.Placed = weights("184", 1) },
		"a bucket below the first": func(s *v1alpha1.Starts) { s.Placed = weights("-1", 1) },
		"a bucket with a sign":     func(s *v1alpha1.Starts) { s.Held = weights("+1", 1) },
		"a zero too many":          func(s *v1alpha1.Starts) { s.Held = weights("01", 1) },
		"a bucket of words":        func(s *v1alpha1.Starts) { s.Waited = weights(strings.Repeat("x", 1<<20), 1) },
		"less than no weight":      func(s *v1alpha1.Starts) { s.Waited = weights("1", -1) },
		"a weight too heavy":       func(s *v1alpha1.Starts) { s.Waited = weights("1", 9007199254740993) },
		"less than no starts":      func(s *v1alpha1.Starts) { s.Waited.Count = -1 },
		"a negative lead time":     func(s *v1alpha1.Starts) { s.LeadTime.Seconds = -1 },
		"a lead time of days":      func(s *v1alpha1.Starts) { s.LeadTime.Seconds = 86400 },
		"a change before 1970":     func(s *v1alpha1.Starts) { s.LeadTime.Since = metav1.Unix(-1, 0) },
		"counted before 1970":      func(s *v1alpha1.Starts) { s.CountedThrough = metav1.Unix(-1, 0) },
		"a reference between two":  func(s *v1alpha1.Starts) { s.ReferenceTimestamp = metav1.Unix(172801, 0) },
		"a reference before 1970":  func(s *v1alpha1.Starts) { s.ReferenceTimestamp = metav1.Unix(-172800, 0) },
		"a reference too late":     func(s *v1alpha1.Starts) { s.ReferenceTimestamp = metav1.Unix(1<<40/172800*172800, 0) },
	} {
		held := forecasts.StartsOf(llama, random(1))
		spoil(held)
		record, err := forecasts.RecordIn(held)
		if !errors.Is(err, leadtime.ErrRecord) || record != (leadtime.Record{}) || len(err.Error()) > 300 {
			t.Errorf("%s: %d starts, %.400v", name, record.Starts(), err)
		}
	}
}

// Whatever a status holds, it is refused, or what follows is within bounds and can be written again.
func FuzzRecordIn(f *testing.F) {
	for seed := range uint64(3) {
		text, err := json.Marshal(forecasts.StartsOf(llama, random(seed)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, int64(1795000000), int64(60))
	}
	f.Fuzz(func(t *testing.T, text []byte, ready, took int64) {
		var held v1alpha1.Starts
		if json.Unmarshal(text, &held) != nil {
			return
		}
		record, err := forecasts.RecordIn(&held)
		if err != nil {
			return
		}
		again, _ := written(t, &record)
		if got, err := forecasts.RecordIn(again); err != nil || got != record {
			t.Fatalf("%+v is written as %+v: %v", record, again, err)
		}
		at := time.Unix(ready%(1<<37), 0)
		record.AddStarts([]leadtime.Start{startAt(at, time.Duration(took%1e9)*time.Second)}, at.Add(time.Hour))
		parts := record.Estimates(at)
		for _, lead := range []time.Duration{record.LeadTime(at), parts.Placed.Lead, parts.Waited.Lead, parts.Node().Lead} {
			if lead < 0 || lead > 2*time.Hour {
				t.Fatalf("lead time %s", lead)
			}
		}
		if record.String() == "" {
			t.Fatal("no words")
		}
		again, _ = written(t, &record)
		if _, err := forecasts.RecordIn(again); err != nil {
			t.Fatalf("what follows is no record: %v", err)
		}
	})
}

package capacity_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/offline/capacity"
)

// historyOf is a history of one replica by the minute.
func historyOf(n int, at func(i int) (demand, saturated float64)) capacity.History {
	h := capacity.History{Step: time.Minute}
	for i := range n {
		demand, saturated := at(i)
		h.Demand, h.Ready = append(h.Demand, demand), append(h.Ready, 1)
		h.Saturated = append(h.Saturated, saturated)
	}
	return h
}

// triangle rises from 0 to a height and falls again within a period.
func triangle(i, period int, height float64) float64 {
	return height * (1 - math.Abs(2*float64(i%period)/float64(period)-1))
}

// sharp has 40 requests in flight at the limit; what is above waits.
func sharp(height float64) func(int) (float64, float64) {
	return func(i int) (float64, float64) {
		load := triangle(i, 360, height)
		return load, max(load-40, 0)
	}
}

func TestVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	busy := func(i int) (float64, float64) {
		load, _ := sharp(60)(i)
		return load, max(0, float64(i%157-130))
	}
	tests := []struct {
		name    string
		history capacity.History
		want    capacity.Verdict
		says    string
	}{
		{"a limit at 40", historyOf(6000, sharp(60)), capacity.Known, "A replica sustains about 40"},
		{
			"a limit that was seen twice", historyOf(720, sharp(60)), capacity.Seldom,
			"The service reached its limit twice in 12 hours",
		},
		{
			"a limit that was never seen", historyOf(6000, sharp(30)), capacity.Seldom,
			"A replica carried up to 29.8 requests while nothing",
		},
		{
			"something always waits", historyOf(6000, func(i int) (float64, float64) { return 50, float64(i) + 1 }),
			capacity.Always, "Requests waited nearly all the time",
		},
		{
			"a queue of something else",
			historyOf(6000, busy),
			capacity.Unrelated,
			"does not explain when this happened",
		},
		{
			"no load at all", historyOf(6000, func(i int) (float64, float64) { return 0, float64(i % 90 / 80 * i) }),
			capacity.Unrelated, "does not explain when this happened",
		},
		{
			"nothing known", historyOf(100, func(int) (float64, float64) { return math.NaN(), 0 }), capacity.Empty,
			"never known",
		},
		{"no history", capacity.History{Step: time.Minute}, capacity.Empty, "never known"},
		{"a limit that is anywhere from 20 to 80", historyOf(9000, func(i int) (float64, float64) {
			load := triangle(i, 360, 100)
			return load, max(0, load-40*math.Exp(0.45*random.NormFloat64())) * float64(1+i%360)
		}), capacity.Gradual, "no single limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := capacity.FromHistory(tt.history)
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != tt.want {
				t.Errorf("%s: %+v, want %s", e.Verdict, e, tt.want)
			}
			if got := e.Sentences("requests"); !strings.Contains(got, tt.says) {
				t.Errorf("it says %q, want %q", got, tt.says)
			}
			advised := tt.want == capacity.Known || tt.want == capacity.Gradual
			if got := e.Target(); advised == math.IsNaN(got) {
				t.Errorf("target %v, want one %v", got, advised)
			}
		})
	}
}

// A limit of 40 is found at 40, with an interval around it, in replicas' terms whatever their number, and the bands add up.
func TestASharpLimit(t *testing.T) {
	h := historyOf(6000, sharp(60))
	for i := range h.Ready { // Now 3, now 4 replicas, each with the same load.
		h.Ready[i] = 3 + float64(i/1000%2)
		h.Demand[i] *= h.Ready[i]
	}
	e, err := capacity.FromHistory(h)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(e.Value/40-1) < 0.02) || !(e.Low < 40) || !(e.High > 40) || !(e.High < 1.12*e.Low) {
		t.Errorf("%v (%v to %v), want 40", e.Value, e.Low, e.High)
	}
	var calm, growing time.Duration
	for i := range e.Bands {
		b := &e.Bands[i]
		calm, growing = calm+b.Calm, growing+b.Growing
		if i > 0 && b.From != e.Bands[i-1].To {
			t.Errorf("band %d begins at %v, the one before ends at %v", i, b.From, e.Bands[i-1].To)
		}
		if share := b.Share(); b.To <= 40 && share > 0 || b.From > 40 && share < 1 {
			t.Errorf("from %v to %v the queue grew %v of the time", b.From, b.To, share)
		}
	}
	if calm != e.Evidence.Calm || growing != e.Evidence.Growing {
		t.Errorf("bands hold %s and %s, want %s and %s", calm, growing, e.Evidence.Calm, e.Evidence.Growing)
	}
}

// In another unit the estimate is the same in that unit.
func TestTheUnitDoesNotMatter(t *testing.T) {
	s := service{signal: inFlight, days: 4, target: 0.85, noise: 0.02, bursts: 2}
	h := s.history(t, 5)
	small, err := capacity.FromHistory(h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Demand {
		h.Demand[i] *= 1024
	}
	large, err := capacity.FromHistory(h)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(large.Value/small.Value/1024-1) < 0.03) || large.Verdict != small.Verdict {
		t.Errorf("%v %s, want 1024 times %v %s", large.Value, large.Verdict, small.Value, small.Verdict)
	}
}

func TestSameHistorySameEstimate(t *testing.T) {
	s := service{signal: arrivals, days: 4, target: 0.85, noise: 0.05, bursts: 2}
	h := s.history(t, 3)
	before := slices.Clone(h.Demand)
	first, err := capacity.FromHistory(h)
	if err != nil {
		t.Fatal(err)
	}
	second, err := capacity.FromHistory(h)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(before, h.Demand) {
		t.Error("the history was changed")
	}
}

func TestValidate(t *testing.T) {
	_, err := capacity.FromHistory(capacity.History{Demand: []float64{1}})
	for _, want := range []string{"a step of 0s", "1 values of the demand, 0 values of the replicas"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}

// Whatever the numbers, there is an estimate or none, and never one without order.
func FuzzFromHistory(f *testing.F) {
	f.Add(uint64(1), 40.0, 2.0, 10.0)
	f.Add(uint64(2), 1e300, 1e-300, math.Inf(1))
	f.Add(uint64(3), math.NaN(), -1.0, 0.0)
	f.Add(uint64(4), math.SmallestNonzeroFloat64, 1.0, 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, demand, ready, queue float64) {
		random := rand.New(rand.NewPCG(seed, 0))
		h := historyOf(400, func(int) (float64, float64) {
			return demand * random.ExpFloat64(), queue * (random.Float64() - 0.7)
		})
		for i := range h.Ready {
			h.Ready[i] = ready
		}
		e, err := capacity.FromHistory(h)
		if err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(e.Value) && !(e.Low <= e.Value && e.Value <= e.High && e.Edge <= e.Full) {
			t.Errorf("%+v", e)
		}
		if e.Sentences("") == "" {
			t.Error("it says nothing")
		}
	})
}

func BenchmarkFromHistory14Days(b *testing.B) {
	h := service{signal: inFlight, days: 14, target: 0.85, noise: 0.02, bursts: 2}.history(b, 1)
	for b.Loop() {
		if _, err := capacity.FromHistory(h); err != nil {
			b.Fatal(err)
		}
	}
}

package gpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type at struct {
	seconds, value float64
}

func moment(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

func TestSummary(t *testing.T) {
	evenly := make([]at, 20)
	for i := range evenly {
		evenly[i] = at{float64(i + 1), float64(i+1) / 20}
	}
	for _, test := range []struct {
		name    string
		samples []at
		now     float64
		want    gpu.Summary
	}{
		{"nothing", nil, 0, gpu.Summary{}},
		{"one sample is all there is to know", []at{{1, 0.4}}, 2, gpu.Summary{Mean: 0.4, Max: 0.4, P95: 0.4, Known: true}},
		{
			"a sample counts by the time since the one before: 0.9 for 8 s, 0.1 for 1 s and, as the first, 1 s",
			[]at{{1, 0.1}, {2, 0.1}, {10, 0.9}},
			10,
			gpu.Summary{Mean: 0.74, Max: 0.9, P95: 0.9, Known: true},
		},
		{
			"of twenty equal seconds the nineteenth is the 95th percentile", evenly, 20,
			gpu.Summary{Mean: 0.525, Max: 1, P95: 0.95, Known: true},
		},
		{
			"a short peak is in the maximum and not in the percentile",
			[]at{{0, 0}, {10, 0.1}, {10.1, 1}, {20, 0.1}},
			20,
			gpu.Summary{Mean: (0.1*10 + 1*0.1 + 0.1*9.9) / 30, Max: 1, P95: 0.1, Known: true},
		},
		{
			"a sample that begins before the window counts by what is in it: 5 s of 10 s",
			[]at{{0, 0}, {10, 0}, {20, 1}, {40, 0}},
			45,
			gpu.Summary{Mean: 5. / 15, Max: 1, P95: 1, Known: true},
		},
		{
			"what came before a gap is not known: 10 s of 0.8, not 25",
			[]at{{0, 0.2}, {1, 0.2}, {26, 0.8}},
			27,
			gpu.Summary{Mean: (0.2*2 + 0.8*10) / 12, Max: 0.8, P95: 0.8, Known: true},
		},
		{"all is over", []at{{0, 0.5}, {1, 0.5}}, 31, gpu.Summary{}},
		{"a sample of a time to come", []at{{1, 0.5}, {9, 0.9}}, 2, gpu.Summary{Mean: 0.5, Max: 0.5, P95: 0.5, Known: true}},
		{
			"a sample that is late is dropped",
			[]at{{1, 0.5}, {3, 0.5}, {2, 0.9}, {3, 0.9}},
			3,
			gpu.Summary{Mean: 0.5, Max: 0.5, P95: 0.5, Known: true},
		},
		{
			"a clock that is set back an hour",
			[]at{{3600, 0.5}, {3601, 0.5}, {1, 0.2}, {2, 0.2}},
			2,
			gpu.Summary{Mean: 0.2, Max: 0.2, P95: 0.2, Known: true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := gpu.NewWindow(30*time.Second, 10*time.Second)
			for _, s := range test.samples {
				w.Add(moment(s.seconds), s.value)
			}
			got := w.Summary(moment(test.now))
			if got.Known != test.want.Known || got.Max != test.want.Max || got.P95 != test.want.P95 ||
				math.Abs(got.Mean-test.want.Mean) > 1e-12 {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestAgainstAPlainCount counts milliseconds.
func TestAgainstAPlainCount(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		w := gpu.NewWindow(30*time.Second, time.Minute)
		var clock int
		var values []float64 // of each millisecond
		w.Add(noon, 0)
		for clock < 60_000 {
			span := 1 + random.IntN(3000)
			clock += span
			value := math.Round(random.Float64()*100) / 100
			w.Add(noon.Add(time.Duration(clock)*time.Millisecond), value)
			for range span {
				values = append(values, value)
			}
		}
		values = slices.Sorted(slices.Values(values[len(values)-30_000:]))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		got := w.Summary(noon.Add(time.Duration(clock) * time.Millisecond))
		if math.Abs(got.Mean-sum/30_000) > 1e-9 || got.Max != values[29_999] || got.P95 != values[28_499] {
			t.Fatalf("%+v, want %g %g %g", got, sum/30_000, values[29_999], values[28_499])
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	w := gpu.NewWindow(time.Hour, time.Minute)
	for i := range 100 * gpu.MaxSamples {
		w.Add(noon.Add(time.Duration(i)*time.Microsecond), 1)
	}
	if n := testing.AllocsPerRun(100, func() { w.Add(noon, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := w.Summary(noon.Add(time.Second)); got.Mean != 1 {
		t.Errorf("%+v", got)
	}
}

func FuzzWindow(f *testing.F) {
	f.Add([]byte{1, 10, 2, 20, 200, 255, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		w := gpu.NewWindow(30*time.Second, 10*time.Second)
		clock := noon
		for ; len(data) >= 2; data = data[2:] {
			clock = clock.Add(time.Duration(int8(data[0])) * 500 * time.Millisecond)
			w.Add(clock, float64(data[1])/255)
			got := w.Summary(clock)
			if !(got.Mean >= 0 && got.Mean <= got.Max && got.Max <= 1 && got.P95 <= got.Max && got.P95 >= 0) {
				t.Fatalf("%+v", got)
			}
		}
	})
}

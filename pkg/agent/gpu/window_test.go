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

// at is a sample of so many seconds after noon.
func at(seconds, value float64) gpu.Sample {
	return gpu.Sample{Time: noon.Add(time.Duration(seconds * float64(time.Second))), Ratio: value}
}

func TestSummary(t *testing.T) {
	try := func(name string, now, mean, most, p95 float64, samples ...gpu.Sample) {
		w := gpu.NewWindow(30*time.Second, 10*time.Second)
		for _, s := range samples {
			w.Add(s)
		}
		got := w.Summary(at(now, 0).Time)
		if got.Max != most || got.P95 != p95 || math.Abs(got.Mean-mean) > 1e-12 || got.Known != (most > 0) {
			t.Errorf("%s: %+v, want %v %v %v", name, got, mean, most, p95)
		}
	}
	try("nothing", 0, 0, 0, 0)
	try("one sample is all there is to know", 2, 0.4, 0.4, 0.4, at(1, 0.4))
	try("a sample counts by the time since the one before: 0.9 for 8 s, 0.1 for 1 s and, as the first, 1 s",
		10, 0.74, 0.9, 0.9, at(1, 0.1), at(2, 0.1), at(10, 0.9))
	evenly := make([]gpu.Sample, 20)
	for i := range evenly {
		evenly[i] = at(float64(i+1), float64(i+1)/20)
	}
	try("of twenty equal seconds the nineteenth is the 95th percentile", 20, 0.525, 1, 0.95, evenly...)
	try("a short peak is in the maximum and not in the percentile",
		20, (0.1*10+1*0.1+0.1*9.9)/30, 1, 0.1, at(0, 0), at(10, 0.1), at(10.1, 1), at(20, 0.1))
	try("a sample that begins before the window counts by what is in it: 5 s of 10 s",
		45, 5./15, 1, 1, at(0, 0), at(10, 0), at(20, 1), at(40, 0))
	try("what came before a gap is not known: 10 s of 0.8, not 25",
		27, (0.2*2+0.8*10)/12, 0.8, 0.8, at(0, 0.2), at(1, 0.2), at(26, 0.8))
	try("all is over", 31, 0, 0, 0, at(0, 0.5), at(1, 0.5))
	try("a sample of a time to come", 2, 0.5, 0.5, 0.5, at(1, 0.5), at(9, 0.9))
	try("a sample that is late is dropped", 3, 0.5, 0.5, 0.5, at(1, 0.5), at(3, 0.5), at(2, 0.9), at(3, 0.9))
	try("a clock that is set back an hour", 2, 0.2, 0.2, 0.2, at(3600, 0.5), at(3601, 0.5), at(1, 0.2), at(2, 0.2))
}

// TestAgainstAPlainCount counts milliseconds.
func TestAgainstAPlainCount(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		w := gpu.NewWindow(30*time.Second, time.Minute)
		var values []float64 // of each millisecond
		w.Add(at(0, 0))
		for len(values) < 60_000 {
			value := math.Round(random.Float64()*100) / 100
			for range 1 + random.IntN(3000) {
				values = append(values, value)
			}
			w.Add(at(float64(len(values))/1000, value))
		}
		now := at(float64(len(values))/1000, 0).Time
		values = slices.Sorted(slices.Values(values[len(values)-30_000:]))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		got := w.Summary(now)
		if math.Abs(got.Mean-sum/30_000) > 1e-9 || got.Max != values[29_999] || got.P95 != values[28_499] {
			t.Fatalf("%+v, want %g %g %g", got, sum/30_000, values[29_999], values[28_499])
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	w := gpu.NewWindow(time.Hour, time.Minute)
	for i := range 100 * gpu.MaxSamples {
		w.Add(at(float64(i)/1e6, 1))
	}
	if n := testing.AllocsPerRun(100, func() { w.Add(at(0, 1)) }); n != 0 {
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
			w.Add(gpu.Sample{Time: clock, Ratio: float64(data[1]) / 255})
			got := w.Summary(clock)
			if !(got.Mean >= 0 && got.Mean <= got.Max && got.Max <= 1 && got.P95 <= got.Max && got.P95 >= 0) {
				t.Fatalf("%+v", got)
			}
		}
	})
}

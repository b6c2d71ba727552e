package series_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
)

const step = 30 * time.Second

var (
	origin = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	gap    = math.NaN()
)

func at(i int) time.Time { return origin.Add(time.Duration(i) * step) }

func block(start int, values ...float64) forecast.Series {
	return forecast.Series{Start: at(start), Step: step, Values: values}
}

func TestStoreAppend(t *testing.T) {
	tests := map[string]struct {
		size   int
		blocks []forecast.Series
		want   forecast.Series
	}{
		"blocks that follow each other": {10, []forecast.Series{block(0, 1, 2), block(2, 3)}, block(0, 1, 2, 3)},
		"a hole is a gap, not a zero":   {10, []forecast.Series{block(0, 1), block(3, 4)}, block(0, 1, gap, gap, 4)},
		"the newer answer counts":       {10, []forecast.Series{block(0, 1, 2), block(1, 9, 3)}, block(0, 1, 9, 3)},
		"a late sample fills a gap":     {10, []forecast.Series{block(0, 1, gap), block(0, 1, 2)}, block(0, 1, 2)},
		"what is known stays": {
			10,
			[]forecast.Series{block(0, 1, 2), block(0, gap, -1, 3)},
			block(0, 1, 2, 3),
		},
		"an old block changes nothing": {10, []forecast.Series{block(5, 1), block(0, 9, 9)}, block(5, 1)},
		"an answer that overlaps both": {2, []forecast.Series{block(0, 1, 2, 3), block(0, 7, 8, 9)}, block(1, 8, 9)},
		"the oldest leave":             {3, []forecast.Series{block(0, 1, 2, 3, 4, 5)}, block(2, 3, 4, 5)},
		"a hole longer than the store": {3, []forecast.Series{block(0, 1, 2, 3), block(100, 4)}, block(100, 4)},
		"no demand becomes a gap": {
			10,
			[]forecast.Series{block(0, 1, -1, math.Inf(1), 1e16, gap, 2)},
			block(0, 1, gap, gap, gap, gap, 2),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := series.NewStore(step, tt.size)
			for _, b := range tt.blocks {
				if _, err := store.Append(b); err != nil {
					t.Fatal(err)
				}
			}
			got := store.Range(store.Start(), store.End())
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStoreCountsWhatItDrops(t *testing.T) {
	store := series.NewStore(step, 9)
	for _, want := range []series.Dropped{{series.Negative: 2, series.Infinite: 1, series.Huge: 1}, {}} { // Once.
		got, err := store.Append(block(0, -1, -2, math.Inf(-1), 1e300, 5))
		if err != nil || got.Dropped != want {
			t.Errorf("dropped %+v, %v; want %+v", got.Dropped, err, want)
		}
	}
}

func TestStoreSaysWhatChanged(t *testing.T) {
	stored := block(0, 10, 20, gap, 40)
	for name, tt := range map[string]struct {
		block          forecast.Series
		changed, grown time.Time
	}{
		"nothing":                   {block: block(0, 10, 20, gap, 40, 50)},
		"the order of a sum":        {block: block(0, 10*(1+1e-9), 20)},
		"a smaller and a larger":    {block(0, 9, 21), at(0), at(1)},
		"a late one, which is none": {block(1, 20, 30, 40), at(2), time.Time{}},
		"one that is gone":          {block: block(0, gap, 20)},
	} {
		store := series.NewStore(step, 9)
		if _, err := store.Append(stored); err != nil {
			t.Fatal(err)
		}
		got, err := store.Append(tt.block)
		if err != nil || !got.Changed.Equal(tt.changed) || !got.Grown.Equal(tt.grown) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestStoreRefusesAnotherGrid(t *testing.T) {
	store := series.NewStore(step, 9)
	for name, b := range map[string]forecast.Series{
		"another step": {Start: origin, Step: time.Minute, Values: []float64{1}},
		"off the grid": {Start: origin.Add(time.Second), Step: step, Values: []float64{1}},
	} {
		if _, err := store.Append(b); !errors.Is(err, forecast.ErrParameter) {
			t.Errorf("%s: %v, want ErrParameter", name, err)
		}
	}
}

func TestStoreRange(t *testing.T) {
	store := series.NewStore(step, 4)
	if _, err := store.Append(block(0, 0, 1, 2, 3, 4, 5)); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		from, to time.Time
		want     forecast.Series
	}{
		"inside":                   {at(3), at(5), block(3, 3, 4)},
		"beyond both ends":         {at(-9), at(99), block(2, 2, 3, 4, 5)},
		"between two steps":        {at(3).Add(time.Second), at(5), block(4, 4)},
		"nothing":                  {at(4), at(4), block(4)},
		"before all":               {at(-9), at(-3), block(2)},
		"the end before the start": {at(5), at(3), block(5)},
	} {
		got := store.Range(tt.from, tt.to)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestStoreNewestSample(t *testing.T) {
	store := series.NewStore(step, 4)
	if _, ok := store.NewestSample(); ok {
		t.Error("an empty store has a newest sample")
	}
	if _, err := store.Append(block(0, 1, 2, gap, gap)); err != nil {
		t.Fatal(err)
	}
	if got, ok := store.NewestSample(); !ok || !got.Equal(at(1)) {
		t.Errorf("newest sample at %v, %v; want %v", got, ok, at(1))
	}
	if _, err := store.Append(block(4, gap, gap)); err != nil {
		t.Fatal(err)
	}
	if got, ok := store.NewestSample(); ok {
		t.Errorf("newest sample at %v of gaps alone", got)
	}
}

// The store does not depend on the pieces in which the samples arrive.
func TestStoreDoesNotDependOnPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 500)
	for i := range values {
		values[i] = float64(rng.IntN(1000))
	}
	whole := series.NewStore(step, 200)
	if _, err := whole.Append(block(0, values...)); err != nil {
		t.Fatal(err)
	}
	pieces := series.NewStore(step, 200)
	for from := 0; from < len(values); {
		start := max(0, from-rng.IntN(5)) // overlaps
		to := min(len(values), from+1+rng.IntN(50))
		if _, err := pieces.Append(block(start, values[start:to]...)); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	want, got := whole.Range(whole.Start(), whole.End()), pieces.Range(pieces.Start(), pieces.End())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-whole +pieces)\n%s", diff)
	}
}

// What is packed is read and replaced as if it were not: compared with a store that holds everything in a slice.
func TestPackedSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	kinds := []func() float64{
		func() float64 { return math.Round(100 + 20*rng.NormFloat64()) },
		func() float64 { return float64(float32(100 + 20*rng.NormFloat64())) },
		func() float64 { return []float64{0, math.Copysign(0, -1), 1e15, 12.5, gap}[rng.IntN(5)] },
	}
	for round := range 60 {
		size := 1 + rng.IntN(4000)
		store, plain, first := series.NewStore(step, size), []float64{}, 0
		for range 40 {
			from := max(0, first+len(plain)-rng.IntN(1500))
			switch {
			case len(plain) == 0:
				from, first = 7, 7
			case rng.IntN(10) == 0:
				from = first + len(plain) + rng.IntN(600)
			}
			values := make([]float64, 1+rng.IntN(1500))
			for i := range values {
				values[i] = kinds[(round+rng.IntN(2)*rng.IntN(2))%3]()
			}
			if _, err := store.Append(block(from, values...)); err != nil {
				t.Fatal(err)
			}
			if from-first-len(plain) > size {
				plain, first = nil, from
			}
			for len(plain) < from-first {
				plain = append(plain, gap)
			}
			for i, v := range values {
				switch at := from + i - first; {
				case at >= len(plain):
					plain = append(plain, v)
				case at >= 0 && !math.IsNaN(v):
					plain[at] = v
				}
			}
			if surplus := len(plain) - size; surplus > 0 {
				plain, first = plain[surplus:], first+surplus
			}
			a := first + rng.IntN(len(plain))
			b := a + rng.IntN(first+len(plain)-a+1)
			for _, part := range [][2]int{{first, first + len(plain)}, {a, b}} {
				got := store.Range(at(part[0]), at(part[1]))
				want := forecast.Series{Start: at(part[0]), Step: step, Values: plain[part[0]-first : part[1]-first]}
				for i, v := range want.Values {
					same := math.Float64bits(float64(float32(v))) == math.Float64bits(got.Values[i])
					if !same && !(math.IsNaN(v) && math.IsNaN(got.Values[i])) {
						t.Fatalf("round %d: sample %d of %v is %v, want %v", round, i, part, got.Values[i], v)
					}
				}
				if !got.Start.Equal(want.Start) || len(got.Values) != len(want.Values) {
					t.Fatalf(
						"round %d: %d samples from %s, want %d from %s",
						round,
						len(got.Values),
						got.Start,
						len(want.Values),
						want.Start,
					)
				}
			}
		}
	}
}

// What was dropped is counted by its fault, with the grammar of one sample and of several.
func TestDroppedSamplesAreDescribed(t *testing.T) {
	nan := series.Stored(math.NaN())
	for want, samples := range map[string][]float64{
		"the newest sample is infinite: check the query for a division by 0":            {math.Inf(1)},
		"the newest 2 samples are infinite: check the query for a division by 0":        {math.Inf(1), math.Inf(-1)},
		"the newest sample is negative: check the query for a subtraction or a delta()": {-1},
		"the newest 2 samples are above 1e15, the largest demand that Forewarm accepts: check the query for a wrong unit": {
			5e15, math.MaxFloat64,
		},
		"the newest 3 samples are not a number (NaN): check the query for a division of 0 by 0": {nan, nan, gap, nan, 7},
		"the newest 4 samples are not valid demand (1 negative, 2 infinite, 1 above 1e15): check the query for a subtraction or a delta() " +
			"and for a division by 0 and for a wrong unit": {math.Inf(1), -1, math.Inf(1), 2e15},
	} {
		var d series.Dropped
		for _, v := range samples {
			series.CleanSample(v, &d)
		}
		if got := d.Newest(); got != want {
			t.Errorf("%v:\n got %s\nwant %s", samples, got, want)
		}
	}
}

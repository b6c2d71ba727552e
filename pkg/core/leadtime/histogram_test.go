package leadtime //nolint:testpackage // The histogram is held against a plain sort, which its package does not show.

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantileAgainstASort(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		h, all := Histogram{}, make([]time.Duration, 1+rng.IntN(200))
		for i := range all {
			all[i] = shortest + time.Duration(rng.Int64N(int64(longest-shortest)))
			h.add(all[i], unit)
		}
		slices.Sort(all)
		before := time.Duration(0)
		for q := 0.0; q <= 1; q += 0.01 {
			got := h.quantile(q)
			if got < before {
				t.Fatalf("q = %.2f: %s, less than %s before", q, got, before)
			}
			before = got
			n := 1
			for float64(n) < q*float64(len(all)) {
				n++
			}
			if want := all[n-1]; got < want || got.Seconds() > want.Seconds()*ratio+1 {
				t.Fatalf("q = %.2f of %d: %s, want %s and at most 5 %% more", q, len(all), got, want)
			}
		}
	}
}

func TestBucketsHoldTheirBounds(t *testing.T) {
	for i := range buckets {
		if got := bucketOf(bound(i)); got != i {
			t.Errorf("bound %s of bucket %d is in bucket %d", bound(i), i, got)
		}
		if i < buckets-1 {
			if got := bucketOf(bound(i) + 1); got != i+1 {
				t.Errorf("a nanosecond more than %s is in bucket %d, want %d", bound(i), got, i+1)
			}
		}
	}
	if bound(buckets-1) != longest || bound(0) != shortest {
		t.Errorf("from %s to %s", bound(0), bound(buckets-1))
	}
}

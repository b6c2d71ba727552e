package series_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/series"
)

func TestRing(t *testing.T) {
	for name, r := range map[string]series.Ring[int]{
		"made whole": series.NewRing[int](3), "growing": series.NewGrowingRing[int](3),
	} {
		if got := r.Ago(0); got != 0 || r.Len() != 0 || r.Has(0) {
			t.Errorf("%s: %d held, the newest %d, want none", name, r.Len(), got)
		}
		for i := 1; i <= 5; i++ {
			r.Push(i)
			if i == 2 && (r.Ago(1) != 1 || r.Ago(2) != 1 || r.Has(2)) {
				t.Errorf("%s: of 1, 2 the oldest are %d and %d", name, r.Ago(1), r.Ago(2))
			}
		}
		*r.Ref(1) = 40
		if diff := cmp.Diff([]int{3, 40, 5}, r.Values()); diff != "" || r.Len() != 3 || r.Cap() != 3 {
			t.Errorf("%s, after 1 to 5 (-want +got):\n%s", name, diff)
		}
	}
}

// A growing ring allocates no more than it needs.
func TestRingGrowsWithWhatItHolds(t *testing.T) {
	r := series.NewGrowingRing[float64](1000)
	r.Grow(100)
	if allocated := testing.AllocsPerRun(1, func() {
		for range 50 {
			r.Push(1)
		}
	}); allocated > 0 {
		t.Errorf("%v allocations where there was room", allocated)
	}
}

// What was handed out stays as it was, while the values go on.
func TestTail(t *testing.T) {
	tail := series.NewTail[int](3)
	var before [][]int
	for i := range 40 {
		tail.Push(i)
		before = append(before, tail.Newest())
		_ = append(tail.Newest(), -1) // An own copy.
	}
	for i, got := range before {
		if want := []int{i - 2, i - 1, i}[max(2-i, 0):]; !cmp.Equal(want, got) {
			t.Errorf("after %d: %v, want %v", i, got, want)
		}
	}
}

func TestDelay(t *testing.T) {
	d := series.NewDelay(2)
	var got []float64
	for i := range 4 {
		got = append(got, d.Push(float64(i)))
	}
	if !math.IsNaN(got[0]) || !math.IsNaN(got[1]) || got[2] != 0 || got[3] != 1 {
		t.Errorf("0 to 3, two steps later: %v", got)
	}
}

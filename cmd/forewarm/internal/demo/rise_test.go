package demo //nolint:testpackage // As above.

import (
	"slices"
	"testing"
	"time"
)

func TestARiseIsTold(t *testing.T) {
	r := &rise{}
	for _, c := range []struct {
		minute, asked, needed int
		over                  bool
		want                  []string
	}{
		{0, 4, 3, false, nil},
		{1, 3, 2, false, nil},
		{2, 6, 4, false, []string{
			"Forewarm asks for 6 replicas; the demand needs 4", "the demand needs 4 replicas; Forewarm asked for them from the start",
		}},
		{9, 5, 6, false, []string{"the demand needs 6 replicas; Forewarm asked for them 7m before"}},
		{10, 7, 6, false, []string{"Forewarm asks for 7 replicas; the demand needs 6"}},
		{11, 8, 8, false, []string{
			"Forewarm asks for 8 replicas; the demand needs 8",
			"the demand needs 8 replicas, which Forewarm asks for only now: it did not foresee this rise",
		}},
		{12, 8, 12, false, []string{"the demand needs 12 replicas; Forewarm asks for 8: it did not foresee this rise"}},
		{21, 9, 9, false, []string{"Forewarm asks for 9 replicas; the demand needs 9"}},
		{22, 9, 9, true, nil},
	} {
		at := noon.Add(time.Duration(c.minute) * time.Minute)
		if got := r.observe(moment{at, c.asked}, moment{at, c.needed}); !slices.Equal(got, c.want) {
			t.Errorf("minute %d: %q, want %q", c.minute, got, c.want)
		}
		if r.over(at) != c.over {
			t.Errorf("minute %d: over is %v", c.minute, !c.over)
		}
	}
}

func TestARippleIsNoRise(t *testing.T) {
	r := &rise{}
	for minute, needed := range []int{4, 5, 4, 5} {
		at := noon.Add(time.Duration(minute) * time.Hour)
		r.observe(moment{at, 6}, moment{at, needed})
		if r.over(at) {
			t.Errorf("%d replicas after 4 are a rise", needed)
		}
	}
}

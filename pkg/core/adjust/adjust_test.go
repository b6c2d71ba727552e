package adjust_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/adjust"
	"github.com/forewarm/forewarm/pkg/core/demand"
)

// constant is known at all times; it takes one from what is learnt.
type constant struct {
	effect adjust.Effect
	words  []string
}

func (c constant) Over(time.Time, time.Time) adjust.Effect { return c.effect }

func (c constant) Words(time.Time, time.Time) []string { return c.words }

func (constant) Learn(_ time.Time, s demand.Sample) demand.Sample {
	s.Value--
	return s
}

func TestAllTogether(t *testing.T) {
	makes := func(c constant) adjust.Maker { return func(time.Duration) adjust.Adjustment { return c } }
	all := adjust.Of([]adjust.Maker{
		makes(constant{adjust.Effect{Times: 2, More: 1}, []string{"a launch", "a sale"}}),
		makes(constant{adjust.Effect{Times: 3, AtLeast: 50}, []string{"a sale"}}),
	}, time.Minute)
	at := time.Unix(0, 0)
	known := all.Over(at, at.Add(time.Hour))
	if known != (adjust.Effect{Times: 6, More: 1, AtLeast: 50}) || known.On(10) != 61 || known.On(1) != 50 {
		t.Errorf("%+v makes %v of 10 and %v of 1", known, known.On(10), known.On(1))
	}
	if got := all.Learn(at, demand.Sample{Value: 5}); got.Value != 3 {
		t.Errorf("%v is learnt of 5", got.Value)
	}
	if diff := cmp.Diff([]string{"a launch", "a sale"}, all.Words(at, at)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingChangesNothing(t *testing.T) {
	var none adjust.All
	at := time.Unix(0, 0)
	known := none.Over(at, at)
	if known != adjust.Nothing() || known.On(-1) != -1 || !math.IsNaN(known.On(math.NaN())) {
		t.Errorf("%+v", known)
	}
	if none.Learn(at, demand.Sample{Value: 7}).Value != 7 || none.Words(at, at) != nil {
		t.Error("a sample or its words have changed")
	}
}

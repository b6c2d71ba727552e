package refresh //nolint:testpackage // The flags are internal.

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
)

const flagStep = 30 * time.Second

var flagOrigin = time.Unix(1_000_000_020, 0).UTC()

// The flags do not depend on the pieces in which the values arrive.
func TestFlags(t *testing.T) {
	const size = 128
	rng := rand.New(rand.NewPCG(7, 8))
	flags := newFlags(flagStep, size)
	at := func(i int) time.Time { return flagOrigin.Add(time.Duration(i) * flagStep) }
	want := map[int]bool{}
	end := 0
	for range 300 {
		from := max(0, end+rng.IntN(12)-4)
		if rng.IntN(50) == 0 {
			from += 3 * size // A hole longer than the store.
		}
		values, first := make([]float64, rng.IntN(9)), -1
		for i := range values {
			values[i] = []float64{0, 3, math.NaN(), -1, 1e-300}[rng.IntN(5)]
			if step := from + i; step >= end || step >= end-size && !math.IsNaN(values[i]) {
				if values[i] > 0 != want[step] && first < 0 {
					first = step
				}
				want[step] = values[i] > 0
			}
		}
		changed, err := flags.add(forecast.Series{Start: at(from), Step: flagStep, Values: values})
		if err != nil || first < 0 != changed.IsZero() || first >= 0 && !changed.Equal(at(first)) {
			t.Fatalf("%s has changed, want step %d; %v", changed, first, err)
		}
		end = max(end, from+len(values), from)
		if !flags.newestEnd().Equal(at(end)) {
			t.Fatalf("the end is %s, want %s", flags.newestEnd(), at(end))
		}
		for i := end - size; i < end+5; i++ {
			if i >= 0 && flags.at(at(i)) != want[i] {
				t.Fatalf("step %d of %d: %v", i, end, !want[i])
			}
		}
		if flags.at(at(end - size - 1)) {
			t.Fatal("a step that is not stored is above 0")
		}
	}
}

func TestFlagsBeforeTheFirst(t *testing.T) {
	flags := newFlags(flagStep, 10)
	if !flags.newestEnd().IsZero() || flags.at(flagOrigin) || flags.at(time.Unix(0, 0)) {
		t.Errorf("empty flags end at %s", flags.newestEnd())
	}
	_, err := flags.add(forecast.Series{Start: flagOrigin.Add(1), Step: flagStep, Values: []float64{1}})
	if !errors.Is(err, forecast.ErrParameter) {
		t.Errorf("%v, want ErrParameter", err)
	}
}

package forecaster_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// difference is what two forecasters describe differently; empty where there is nothing.
func difference(one, other *forecaster.Forecaster) string {
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	return cmp.Diff(describe(one), describe(other), cmpopts.EquateNaNs(), all)
}

// A clone steps as the original would have, and the original does not notice: with an objective, random starts, every candidate,
// and suspects that are held back.
func TestClone(t *testing.T) {
	c := asked(windowpeak.SES)
	c.Starts, c.Seed, c.DelaySteps = sim.Starts(3*time.Minute, 10*time.Minute), 7, 1
	demand := saw(rand.New(rand.NewPCG(7, 8)))
	all := history(6*288, func(i int) float64 {
		if i%400 > 390 {
			return 90 * demand(i)
		}
		return demand(i)
	})
	first, stepped := all, 0
	first.Series = all.Slice(0, 3*288)
	original, straight := forecaster.New(c, first), forecaster.New(c, first)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := 3 * 288; i < all.Len(); i++ {
		straight.Step(all.Reading(i))
		if rng.IntN(40) == 0 {
			astray := original.Clone()
			for range 20 {
				astray.Step(plain(1000 * rng.Float64()))
			}
			original = original.Clone()
		}
		original.Step(all.Reading(i))
		if diff := difference(straight, original); diff != "" {
			t.Fatalf("step %d (-never cloned +cloned)\n%s", stepped, diff)
		}
		stepped++
	}
}

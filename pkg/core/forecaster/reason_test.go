package forecaster_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
)

// Before a burst that comes at the same time every day the reason says why more is served; at other times it does not.
func TestTheReasonNamesWhatComesAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	const day, burst = 288, 204
	demand := func(i int) float64 {
		if at := i % day; at >= burst && at < burst+4 {
			return 300 + 10*rng.Float64()
		}
		return 40 + 4*rng.Float64()
	}
	c := config()
	c.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	c.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	f := forecaster.New(c, history(8*day, demand))
	said := 0
	for i := range day {
		f.Step(plain(demand(i)))
		e := describe(f)
		reason := e.Decision.Reason()
		names := strings.Contains(reason, "(the same time last season reached 3")
		if names {
			said++
		}
		if names && (i < burst-3 || i >= burst) {
			t.Fatalf("step %d: %s, observed %v", i, reason, e.Observed)
		}
	}
	if said != 3 {
		t.Errorf("it is said at %d steps, want the 3 of the lead window before the burst", said)
	}
}

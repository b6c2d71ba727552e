package refresh_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// What an alias serves in shadow mode is the query's newest value to the last bit: of a rate, too, whose observed demand is the
// mean of a minute, and of a sample that is not credible yet.
func TestTheNewestSampleIsTheQuerysOwn(t *testing.T) {
	at := noon.Add(-step)
	demand := func(now time.Time) float64 {
		if now.Equal(at) {
			return 9 * daily(now)
		}
		return daily(now)
	}
	for _, rate := range []bool{false, true} {
		exposed := jobOf("llama")
		exposed.Rate, exposed.Alias = rate, &snapshot.Alias{Metric: "queue_messages_ready"}
		loop, _ := newLoop(t, &demandSource{demand: demand}, fixedJobs{exposed})
		s := loop.Step(t.Context(), noon)
		e := s.ByAlias("inference", exposed.Alias)
		if e == nil || math.Float64bits(e.Sampled) != math.Float64bits(demand(at)) || !e.SampleTime.Equal(at) ||
			e.Observed >= e.Sampled {
			t.Fatalf("rate %v: %+v", rate, e)
		}
		if c := condition(t, e, snapshot.ConditionExposed); !c.True {
			t.Errorf("%+v", c)
		}
	}
}

package refresh_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// sources answer by expression.
type sources map[string]*demandSource

func (s sources) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	return s[q.Expr].Fetch(ctx, q)
}

// limit is where the service of these tests is saturated; the day's peak, at six in the morning, is about 165.
const limit = 130

// short is the midnight from which on the service is short of replicas.
var short = noon.Truncate(24 * time.Hour)

// throughput is the daily demand as a service shows it that can serve no more than the limit, since it is short.
func throughput(t time.Time) float64 {
	if t.Before(short) {
		return daily(t)
	}
	return math.Min(daily(t), limit)
}

// queue is what waits.
func queue(t time.Time) float64 {
	if t.Before(short) {
		return math.NaN() // There is no series until something waits.
	}
	return math.Max(daily(t)-limit, 0)
}

func saturatedSources() sources {
	return sources{"demand": {demand: throughput}, "waiting > 0": {demand: queue}}
}

func targetWithSaturation() refresh.Job {
	t := jobOf("llama")
	t.History, t.SideQueries = 6*24*time.Hour, refresh.SideQueries{refresh.Saturated: "waiting > 0"}
	return t
}

// The morning after one whose peak was hidden is expected to be as high as those before; who does not know that the service
// was saturated has learnt the plateau.
func TestSaturationIsNotLearntAsDemand(t *testing.T) {
	plateau := targetWithSaturation()
	plateau.SideQueries = nil
	plateau.Autoscalers = []decide.Autoscaler{scaling(limit/13, 13)}
	naive := plateau
	naive.Autoscalers = nil
	highest := map[string]float64{}
	for name, tt := range map[string]refresh.Job{
		"a limit signal": targetWithSaturation(), "a plateau at capacity": plateau, "no repair": naive,
	} {
		loop, _ := newLoop(t, saturatedSources(), fixedJobs{tt})
		from := short.Add(28 * time.Hour)
		for now := from; now.Before(from.Add(3 * time.Hour)); now = now.Add(step) {
			e := entry(t, loop.Step(t.Context(), now), "llama")
			highest[name] = math.Max(highest[name], forecastQuantile(t, e))
			if e.Decision.Value < e.Observed {
				t.Fatalf("%s: %v served below the observed %v", name, e.Decision.Value, e.Observed)
			}
			if len(tt.Autoscalers) > 0 && e.Decision.Value > limit {
				t.Fatalf("%v served, of which no one can use more than %d", e.Decision.Value, limit)
			}
		}
	}
	t.Logf("the 0.95 quantile at most, of a demand of up to 165 that is seen up to %d: %v", limit, highest)
	if naive := highest["no repair"]; naive > 1.08*limit || highest["a limit signal"] < 1.15*limit ||
		highest["a plateau at capacity"] < 1.15*limit {
		t.Errorf("the 0.95 quantile at most %v", highest)
	}
}

// forecastQuantile is the 0.95 quantile of the window peak, as the model that serves has it: what is served is no more than
// what the autoscalers can use.
func forecastQuantile(t *testing.T, e *snapshot.ForecastSnapshot) float64 {
	t.Helper()
	for _, c := range e.Candidates {
		if c.Name == e.Model {
			q, _ := windowpeak.QuantilesAtHorizon(c.Windows, e.Window)
			return q.At(0.95)
		}
	}
	t.Fatalf("no model serves: %s", e.ReadyMessage())
	return 0
}

func scaling(target, most int64) decide.Autoscaler {
	return decide.Autoscaler{Name: "test", HPA: hpa.Spec{
		Min: 1, Max: int32(most), Metrics: []hpa.Metric{{Target: 1000 * target}},
	}}
}

func TestSaturationIsReported(t *testing.T) {
	loop, _ := newLoop(t, saturatedSources(), fixedJobs{targetWithSaturation()})
	e := entry(t, loop.Step(t.Context(), short), "llama")
	if hasCondition(e, snapshot.ConditionSaturated) || len(withoutDips(e)) > 0 {
		t.Errorf("at midnight: %+v, %s", e.Classifications, e.ReadyMessage())
	}
	e = entry(t, loop.Step(t.Context(), short.Add(4*time.Hour)), "llama")
	if len(e.Classifications) == 0 {
		t.Fatal("nothing is marked")
	}
	last := e.Classifications[len(e.Classifications)-1]
	if last.Cause != demand.Saturated || !(queue(last.From) > 0) || queue(last.From.Add(-step)) > 0 ||
		last.Samples < 60 {
		t.Errorf("%+v", last)
	}
	c := condition(t, e, snapshot.ConditionSaturated)
	if !c.True || c.Reason != "Censored" || !strings.Contains(c.Message, last.From.Format("15:04:05")) {
		t.Errorf("%+v", c)
	}
	if e.Observed != limit || e.State != snapshot.Ready {
		t.Errorf("observed %v: %s", e.Observed, e.ReadyMessage())
	}
}

// A limit signal that fails costs nothing but itself; once it answers, everybody knows the same again.
func TestASaturationSignalThatFailsLeavesTheDemand(t *testing.T) {
	s := saturatedSources()
	morning := short.Add(3 * time.Hour)
	s["waiting > 0"].fail = func(q refresh.Query) error {
		if q.To.After(morning) {
			return fmt.Errorf("%w: 502", series.ErrUnavailable)
		}
		return nil
	}
	loop, _ := newLoop(t, s, fixedJobs{targetWithSaturation()})
	now := morning.Add(-10 * step)
	for ; now.Before(morning.Add(20 * step)); now = now.Add(step) {
		e := entry(t, loop.Step(t.Context(), now), "llama")
		if e.State != snapshot.Ready || now.Sub(e.SampleTime) > step {
			t.Fatalf("%s: %s", now, e.ReadyMessage())
		}
	}
	e := entry(t, loop.Step(t.Context(), now), "llama")
	if c := condition(t, e, snapshot.ConditionSaturated); c.True || c.Reason != "Unavailable" ||
		!strings.Contains(c.Message, "502") {
		t.Errorf("%+v", c)
	}
	if n := len(s["waiting > 0"].queries); n > 24 {
		t.Errorf("the signal that fails was asked %d times", n)
	}
	s["waiting > 0"].fail = nil
	now = now.Add(10 * step) // Beyond the pause between attempts.
	here := entry(t, loop.Step(t.Context(), now), "llama")
	newcomer, _ := newLoop(t, saturatedSources(), fixedJobs{targetWithSaturation()})
	there := entry(t, newcomer.Step(t.Context(), now), "llama")
	if c := condition(t, here, snapshot.ConditionSaturated); !c.True {
		t.Errorf("%+v", c)
	}
	sameBits(t, "two replicas differ", there, here)
	if diff := cmp.Diff(there.Classifications, here.Classifications); diff != "" {
		t.Errorf("two replicas mark differently (-newcomer +there before)\n%s", diff)
	}
}

// A limit signal that is always two minutes late is replayed, not learnt again from the whole history at every step.
func TestALateSaturationSignalIsReplayed(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	now := short
	s := saturatedSources()
	s["waiting > 0"].demand = func(at time.Time) float64 {
		if now.Sub(at) < 3*step || at.Minute()%4 > 1 {
			return 0
		}
		return 1
	}
	loop, _ := newLoop(t, s, fixedJobs{targetWithSaturation()})
	var rebuilds uint64
	for range 120 {
		now = now.Add(step)
		rebuilds = loop.Step(t.Context(), now).Loop.Refits
	}
	if rebuilds > 4 { // The first, the first change, an anchor.
		t.Errorf("%d rebuilds in 120 steps", rebuilds)
	}
	now = now.Add(step)
	here := entry(t, loop.Step(t.Context(), now), "llama")
	newcomer, _ := newLoop(t, s, fixedJobs{targetWithSaturation()})
	there := entry(t, newcomer.Step(t.Context(), now), "llama")
	sameBits(t, "two replicas differ", there, here)
}

func TestASaturationSignalWithoutSeriesIsNoError(t *testing.T) {
	s := saturatedSources()
	s["waiting > 0"].fail = func(refresh.Query) error { return fmt.Errorf("%w: nothing", series.ErrNoSeries) }
	loop, _ := newLoop(t, s, fixedJobs{targetWithSaturation()})
	e := entry(t, loop.Step(t.Context(), short.Add(6*time.Hour)), "llama")
	if hasCondition(e, snapshot.ConditionSaturated) || e.State != snapshot.Ready {
		t.Error(e.ReadyMessage())
	}
}

// withoutDips are the spans of an entry but for the sudden lows that the steepest minutes of the made demand have.
func withoutDips(e *snapshot.ForecastSnapshot) []demand.Span {
	return slices.DeleteFunc(slices.Clone(e.Classifications), func(s demand.Span) bool { return s.Cause == demand.Dip })
}

// When all of the demand is suddenly gone, what was there holds for a while.
func TestAnOutageHoldsWhatWasThere(t *testing.T) {
	down := noon.Add(30 * time.Minute)
	source := &demandSource{demand: func(at time.Time) float64 {
		if !at.Before(down) && at.Before(down.Add(8*time.Hour)) {
			return 0
		}
		return daily(at)
	}}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	e := entry(t, loop.Step(t.Context(), down.Add(8*step)), "llama")
	last := float64(float32(daily(down.Add(-step))))
	if e.Observed != last || e.Decision.Value < last || e.State != snapshot.Ready {
		t.Errorf("after seven minutes: observed %v, serves %v, of %v: %s", e.Observed, e.Decision.Value, last,
			e.ReadyMessage())
	}
	c := condition(t, e, snapshot.ConditionData)
	if c.True || c.Reason != "OutageSuspected" || !strings.Contains(c.Message, down.Format("15:04:05")) {
		t.Errorf("%+v", c)
	}
	if spans := withoutDips(e); len(spans) != 1 || spans[0].Cause != demand.Outage || spans[0].Samples != 8 {
		t.Errorf("%+v", e.Classifications)
	}
	held := e.Decision.Value
	for after, share := time.Hour, 0.5; after < 4*time.Hour; after, share = after+time.Hour, share/2 {
		e = entry(t, loop.Step(t.Context(), down.Add(demand.OutageHold+after)), "llama")
		if v := e.Decision.Value / held; math.Abs(v-share) > 0.1*share || condition(t, e, snapshot.ConditionData).True {
			t.Errorf("after %s: %v of %v is served, want %v: %s", after, e.Decision.Value, held, share,
				e.ReadyMessage())
		}
	}
	e = entry(t, loop.Step(t.Context(), down.Add(6*time.Hour)), "llama")
	if e.Observed != 0 || hasCondition(e, snapshot.ConditionData) {
		t.Errorf("after six hours: observed %v: %s", e.Observed, e.ReadyMessage())
	}
}

package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

const step = time.Minute

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// demandSource is a source over a demand that is a function of time; fail, where set, answers instead.
type demandSource struct {
	demand func(time.Time) float64
	fail   func(refresh.Query) error

	mu      sync.Mutex
	queries []refresh.Query
}

func (p *demandSource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	p.mu.Lock()
	p.queries = append(p.queries, q)
	p.mu.Unlock()
	if p.fail != nil {
		if err := p.fail(q); err != nil {
			return forecast.Series{}, err
		}
	}
	return answer(q, p.demand), nil
}

// answer is a demand over the range of a query.
func answer(q refresh.Query, demand func(time.Time) float64) forecast.Series {
	out := forecast.Series{Start: q.From, Step: q.Step, Values: make([]float64, q.Points())}
	for i := range out.Values {
		out.Values[i] = demand(out.TimeAt(i))
	}
	return out
}

// daily is a day cycle with a deterministic ripple.
func daily(t time.Time) float64 {
	hours := float64(t.Unix()) / 3600
	return 100 + 60*math.Sin(2*math.Pi*hours/24) + 7*math.Sin(hours*11) + 5*math.Sin(hours*37)
}

type fixedJobs []refresh.Job

func (f fixedJobs) List(time.Time) []refresh.Job { return f }

func jobOf(name string) refresh.Job {
	return refresh.Job{
		Key: snapshot.Key{Namespace: "inference", Name: name}, Generation: 1, Expr: "demand", Step: step,
		History: 3 * 24 * time.Hour, Lead: 5 * time.Minute, LeadSource: "fixed", StaleAfter: 10 * time.Minute,
		Settings: decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute},
		// The loop is tested with the models that are quick to fit.
		Models: []string{"ses", "holt-winters"},
	}
}

// newLoop waits for its jobs on a busy machine, too: after a failure a step waits only a tenth of the grace.
func newLoop(t *testing.T, source refresh.Source, jobs refresh.Jobs) (*refresh.Loop, *snapshot.Store) {
	t.Helper()
	return loopWith(t, refresh.Config{Grace: 2 * time.Minute}, source, jobs)
}

func loopWith(
	tb testing.TB, c refresh.Config, source refresh.Source, jobs refresh.Jobs,
) (*refresh.Loop, *snapshot.Store) {
	tb.Helper()
	snapshots := new(snapshot.Store)
	loop, err := refresh.New(c, source, jobs, snapshots, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	return loop, snapshots
}

func entry(t *testing.T, s *snapshot.Snapshot, name string) *snapshot.ForecastSnapshot {
	t.Helper()
	e := s.Get(snapshot.Key{Namespace: "inference", Name: name})
	if e == nil {
		t.Fatalf("no entry for %s", name)
	}
	return e
}

func condition(t *testing.T, e *snapshot.ForecastSnapshot, kind string) snapshot.Condition {
	t.Helper()
	for _, c := range e.Conditions {
		if c.Type == kind {
			return c
		}
	}
	t.Fatalf("no condition %s in %+v", kind, e.Conditions)
	return snapshot.Condition{}
}

func TestStepServes(t *testing.T) {
	loop, snapshots := newLoop(t, &demandSource{demand: daily}, fixedJobs{jobOf("llama")})
	s := loop.Step(t.Context(), noon)
	if snapshots.Load() != s {
		t.Error("the snapshot is not on the snapshots")
	}
	e := entry(t, s, "llama")
	if e.State != snapshot.Ready {
		t.Fatalf("state %s: %s", e.State, e.ReadyMessage())
	}
	newest := noon.Add(-step)
	if !e.SampleTime.Equal(newest) || e.Observed != float64(float32(daily(newest))) {
		t.Errorf("observed %v at %s, want %v at %s", e.Observed, e.SampleTime, daily(newest), newest)
	}
	if e.Decision.Value < e.Observed || e.Decision.Value > 250 {
		t.Errorf("serves %v on %v observed", e.Decision.Value, e.Observed)
	}
	if len(e.Candidates) == 0 || len(e.Path) == 0 || e.Model == "" || math.IsNaN(e.Coverage) {
		t.Errorf("the outlook is not whole: %d candidates, %d path steps, model %q, coverage %v",
			len(e.Candidates), len(e.Path), e.Model, e.Coverage)
	}
}

// bitwise is how entries differ in what must be equal to the last bit wherever and whenever it is computed.
func bitwise(want, got *snapshot.ForecastSnapshot) (diff string) {
	same := func(e *snapshot.ForecastSnapshot) any {
		return struct {
			Decision   decide.Decision
			Candidates []snapshot.Candidate
			Path       []snapshot.PathStep
			Model      string
			Coverage   float64
		}{e.Decision, e.Candidates, e.Path, e.Model, e.Coverage}
	}
	return cmp.Diff(same(want), same(got), cmpopts.EquateNaNs())
}

// sameBits fails the test where they do.
func sameBits(t *testing.T, about string, want, got *snapshot.ForecastSnapshot) {
	t.Helper()
	if diff := bitwise(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", about, diff)
	}
}

func TestReplicasAgreeToTheLastBit(t *testing.T) {
	const hours = 8 // an anchor at least
	all := jobOf("llama")
	all.Models = nil
	run := func(from time.Time) *snapshot.ForecastSnapshot {
		loop, _ := newLoop(t, &demandSource{demand: noisy}, fixedJobs{all})
		var s *snapshot.Snapshot
		for now := from; !now.After(noon.Add(hours * time.Hour)); now = now.Add(step) {
			s = loop.Step(t.Context(), now)
		}
		return entry(t, s, "llama")
	}
	old := run(noon)
	for name, e := range map[string]*snapshot.ForecastSnapshot{
		"restarted at the end":   run(noon.Add(hours * time.Hour)),
		"restarted an hour ago":  run(noon.Add((hours - 1) * time.Hour)),
		"restarted in the night": run(noon.Add(6*time.Hour + 13*time.Minute)),
	} {
		sameBits(t, name, old, e)
	}
}

func TestYoungSeriesIsServedAsItGrows(t *testing.T) {
	born := noon.Add(-12 * time.Minute)
	young := func(at time.Time) float64 {
		if at.Before(born) {
			return math.NaN()
		}
		return daily(at)
	}
	loop, _ := newLoop(t, &demandSource{demand: young}, fixedJobs{jobOf("llama")})
	states := map[snapshot.State]bool{}
	var s *snapshot.Snapshot
	for i := range 180 {
		s = loop.Step(t.Context(), noon.Add(time.Duration(i)*step))
		e := entry(t, s, "llama")
		states[e.State] = true
		if !(e.Decision.Value >= e.Observed) {
			t.Fatalf("minute %d: %v served below %v", i, e.Decision.Value, e.Observed)
		}
		if _, err := e.Answer(decide.Overrides{Quantile: 0.9}, s.Time); err != nil {
			t.Fatalf("minute %d: another quantile: %v", i, err)
		}
	}
	e := entry(t, s, "llama")
	if e.Model == "" || len(e.Path) == 0 {
		t.Errorf("after three hours no model serves: %s", e.ReadyMessage())
	}
	if len(states) != 1 || !states[snapshot.Warming] {
		t.Errorf("states %v, want Warming throughout the first day", states)
	}
	if s.Loop.Refits > 2 {
		t.Errorf("%d rebuilds in the first three hours", s.Loop.Refits)
	}
}

func TestFallbackChain(t *testing.T) {
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	loop.Step(t.Context(), noon)
	source.fail = func(refresh.Query) error { return fmt.Errorf("%w: connection refused", series.ErrUnavailable) }

	var highest float64 // over the last lead window, 5 min + 75 s in whole steps
	for i := 1; i <= 8; i++ {
		highest = math.Max(highest, daily(noon.Add(-time.Duration(i)*step)))
	}
	for _, tt := range []struct {
		after time.Duration
		want  snapshot.State
	}{
		{time.Minute, snapshot.Ready},
		{3 * time.Minute, snapshot.Ready},
		{5 * time.Minute, snapshot.FallingBack},
		{8 * time.Minute, snapshot.FallingBack},
		{9 * time.Minute, snapshot.Stale}, // the newest sample was a minute old at noon
		{time.Hour, snapshot.Stale},
	} {
		now := noon.Add(tt.after)
		e := entry(t, loop.Step(t.Context(), now), "llama")
		if e.State != tt.want {
			t.Errorf("after %s: %s (%s), want %s", tt.after, e.State, e.ReadyMessage(), tt.want)
		}
		answer, err := e.Answer(decide.Overrides{}, now)
		if tt.want == snapshot.Stale {
			if !errors.Is(err, snapshot.ErrNotServing) {
				t.Errorf("after %s: %v, %v; want no answer", tt.after, answer, err)
			}
			continue
		}
		if err != nil || answer.Value < e.Observed {
			t.Errorf("after %s: %+v, %v", tt.after, answer, err)
		}
		if tt.want == snapshot.FallingBack && answer.Value != float64(float32(highest)) {
			t.Errorf("after %s: falls back to %v, want the running maximum %v", tt.after, answer.Value, highest)
		}
		if c := condition(t, e, snapshot.ConditionSource); c.True || c.Reason != "Unavailable" ||
			!strings.Contains(c.Message, "refused") {
			t.Errorf("after %s: source condition %+v", tt.after, c)
		}
	}

	source.fail = nil
	back := noon.Add(time.Hour + step)
	e := entry(t, loop.Step(t.Context(), back), "llama")
	if e.State != snapshot.Ready || !e.SampleTime.Equal(back.Add(-step)) {
		t.Errorf("when the source is back: %s, newest sample %s", e.ReadyMessage(), e.SampleTime)
	}
	fresh, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	want := entry(t, fresh.Step(t.Context(), back), "llama")
	sameBits(t, "an outage of the source leaves traces", want, e)
}

// A series that vanishes from a source that answers is a gap: the same fallback chain.
func TestVanishedSeriesIsAGap(t *testing.T) {
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	loop.Step(t.Context(), noon)
	source.fail = func(refresh.Query) error { return fmt.Errorf("%w over the range", series.ErrNoSeries) }
	e := entry(t, loop.Step(t.Context(), noon.Add(6*time.Minute)), "llama")
	if c := condition(t, e, snapshot.ConditionSource); e.State != snapshot.FallingBack || c.Reason != "NoSeries" {
		t.Errorf("%s, source %+v; want FallingBack for NoSeries", e.State, c)
	}
}

func TestChangedObjectTakesEffectInOneStep(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, source, jobs)
	before := entry(t, loop.Step(t.Context(), noon), "llama")
	jobs[0].Generation, jobs[0].Settings.Quantile = 2, 0.5
	after := entry(t, loop.Step(t.Context(), noon.Add(time.Second)), "llama")
	if after.Generation != 2 || after.Decision.Quantile != 0.5 || after.State != snapshot.Ready {
		t.Errorf("after the change: generation %d, quantile %v, %s", after.Generation, after.Decision.Quantile,
			after.ReadyMessage())
	}
	if after.Decision.Value >= before.Decision.Value && !after.Decision.Floored {
		t.Errorf("the median serves %v, the 95 %% quantile served %v", after.Decision.Value, before.Decision.Value)
	}
	if len(source.queries) != 1 {
		t.Errorf("%d queries: the history was read again", len(source.queries))
	}
	jobs[0].Generation, jobs[0].Expr = 3, "another"
	loop.Step(t.Context(), noon.Add(2*time.Second))
	if n := len(source.queries); n != 2 || source.queries[1].Points() < 3*24*60 {
		t.Errorf("another query must read its own history: %d queries", n)
	}
}

// The same query in another source is another tenant's data, or another store's: nothing of the first is kept.
func TestAnotherSourceKeepsNothing(t *testing.T) {
	high, low := refresh.SourceRef{Name: "team-a", Revision: "1"}, refresh.SourceRef{Name: "team-a", Revision: "2"}
	source := &bySource{demand: map[refresh.SourceRef]float64{high: 100, low: 3}}
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].Source = high
	loop, _ := newLoop(t, source, jobs)
	if e := entry(t, loop.Step(t.Context(), noon), "llama"); e.Observed != 100 {
		t.Fatalf("observed %v, want 100", e.Observed)
	}
	if c := condition(t, entry(t, loop.Step(t.Context(), noon), "llama"), snapshot.ConditionSource); !c.True ||
		!strings.Contains(c.Message, "source team-a answered") {
		t.Errorf("%+v does not name the source", c)
	}
	jobs[0].Source = low
	after := entry(t, loop.Step(t.Context(), noon.Add(step)), "llama")
	if after.Observed != 3 || after.Decision.Value >= 100 {
		t.Errorf("observed %v, served %v: want the other source's, and nothing of the first's 100",
			after.Observed, after.Decision.Value)
	}
	if n := len(source.points); n != 2 || source.points[1] < 3*24*60 {
		t.Errorf("queries of %v points, want the whole history of both", source.points)
	}
	// The source is down when it changes: the other's value is not kept.
	jobs[0].Source = refresh.SourceRef{Name: "team-b"}
	if e := entry(t, loop.Step(t.Context(), noon.Add(2*step)), "llama"); e.State != snapshot.Pending {
		t.Errorf("%s, want Pending", e.State)
	}
}

// bySource answers with the demand of the source that is asked.
type bySource struct {
	demand map[refresh.SourceRef]float64
	points []int
}

func (b *bySource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	demand, known := b.demand[q.Source]
	if !known {
		return forecast.Series{}, series.ErrUnavailable
	}
	b.points = append(b.points, q.Points())
	return answer(q, func(time.Time) float64 { return demand }), nil
}

func TestDeletedForecastIsGone(t *testing.T) {
	jobs := fixedJobs{jobOf("a"), jobOf("b")}
	var set refresh.Jobs = jobs
	loop, _ := loopWith(t, refresh.Config{}, &demandSource{demand: daily}, dynamic{&set})
	loop.Step(t.Context(), noon)
	set = jobs[:1]
	s := loop.Step(t.Context(), noon.Add(time.Second))
	if keys := s.Keys(); len(keys) != 1 || keys[0].Name != "a" {
		t.Errorf("left are %v, want a alone", keys)
	}
}

type dynamic struct{ set *refresh.Jobs }

func (d dynamic) List(now time.Time) []refresh.Job { return (*d.set).List(now) }

func TestShadowServesTheObserved(t *testing.T) {
	shadow := jobOf("llama")
	shadow.Settings.Mode = decide.Shadow
	loop, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{shadow})
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	if e.Decision.Value != e.Observed {
		t.Errorf("a shadow serves %v on %v observed", e.Decision.Value, e.Observed)
	}
}

func TestConfigNamesEveryProblem(t *testing.T) {
	_, err := refresh.New(refresh.Config{Refit: -1, Timeout: -1, Concurrency: -1}, nil, nil, nil, nil)
	for _, want := range []string{"refit", "timeout", "concurrency"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %s", err, want)
		}
	}
}

// unrecordedSource is a source that keeps no record of its queries.
type unrecordedSource struct {
	demand func(time.Time) float64
}

func (f *unrecordedSource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	return answer(q, f.demand), nil
}

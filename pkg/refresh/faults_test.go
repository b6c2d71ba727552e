package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func TestFaultsCostOneForecast(t *testing.T) {
	faults := map[string]struct {
		err    error
		reason string
	}{
		"none":   {fmt.Errorf("%w", series.ErrNoSeries), "NoSeries"},
		"many":   {fmt.Errorf("%w: 7; aggregate with sum()", series.ErrSeveralSeries), "SeveralSeries"},
		"query":  {fmt.Errorf("%w: parse error", series.ErrQuery), "QueryRefused"},
		"large":  {fmt.Errorf("%w: 10,000,000 points", series.ErrTooLarge), "AnswerTooLarge"},
		"down":   {fmt.Errorf("%w: status 500", series.ErrUnavailable), "Unavailable"},
		"other":  {errors.New("odd"), "QueryFailed"},
		"panics": {nil, "QueryFailed"},
	}
	source := &demandSource{demand: daily, fail: func(q refresh.Query) error {
		if q.Expr == "panics" {
			panic("a fault in the source")
		}
		return faults[q.Expr].err
	}}
	jobs := fixedJobs{
		jobOf("good"),
		{Key: snapshot.Key{Namespace: "inference", Name: "invalid"}, Invalid: "spec.step: too short"},
	}
	for name := range faults {
		bad := jobOf(name)
		bad.Expr = name
		jobs = append(jobs, bad)
	}
	loop, _ := newLoop(t, source, jobs)
	s := loop.Step(t.Context(), noon)
	if e := entry(t, s, "good"); e.State != snapshot.Ready {
		t.Errorf("the good one is %s", e.ReadyMessage())
	}
	if s.Pending != len([]string{"down", "other", "panics"}) {
		t.Errorf("%d wait for their history, want those whose source does not answer: a wrong query does not pass",
			s.Pending)
	}
	if e := entry(t, s, "invalid"); e.State != snapshot.Invalid || !strings.Contains(e.ReadyMessage(), "too short") {
		t.Errorf("the invalid one is %s", e.ReadyMessage())
	}
	for name, fault := range faults {
		e := entry(t, s, name)
		if c := condition(t, e, snapshot.ConditionSource); e.State != snapshot.Pending || c.True ||
			c.Reason != fault.reason {
			t.Errorf("%s: %s, source %+v; want Pending for %s", name, e.State, c, fault.reason)
		}
		if _, err := e.Answer(decide.Overrides{}, noon); !errors.Is(err, snapshot.ErrNotServing) {
			t.Errorf("%s: answers with %v", name, err)
		}
	}
}

func TestFailedHistoryIsRetriedWithPauses(t *testing.T) {
	source := &demandSource{demand: daily, fail: func(refresh.Query) error { return series.ErrUnavailable }}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for i := range 60 {
		loop.Step(t.Context(), noon.Add(time.Duration(i)*step))
	}
	if n := len(source.queries); n < 25 || n > 29 {
		t.Errorf("%d attempts in an hour, want 27: pauses of 1 to 3 minutes, the same each time", n)
	}
}

// A source fails for three quarters of every two minutes, which is the longest mean pause: who asks again in that rhythm always fails.
func TestRetriesKeepNoRhythm(t *testing.T) {
	source := &demandSource{demand: daily, fail: func(q refresh.Query) error {
		if in := q.To.Sub(noon) % (2 * time.Minute); in >= 75*time.Second && in < 105*time.Second {
			return nil
		}
		return series.ErrUnavailable
	}}
	var jobs fixedJobs
	for i := range 20 {
		job := jobOf(strconv.Itoa(i))
		job.Step, job.History, job.Seasons = 5*time.Second, time.Hour, []time.Duration{10 * time.Minute}
		jobs = append(jobs, job)
	}
	loop, snapshots := newLoop(t, source, jobs)
	for i := range int(20 * time.Minute / (5 * time.Second)) {
		loop.Step(t.Context(), noon.Add(time.Duration(i)*5*time.Second))
	}
	if pending := snapshots.Load().Pending; pending > len(jobs)/2 {
		t.Errorf("%d of %d Forecasts have no history after 20 minutes", pending, len(jobs))
	}
}

// A series that is not there yet is asked for at every step: its first sample is to be seen when it comes.
func TestSeriesThatComesLate(t *testing.T) {
	source := &demandSource{demand: daily, fail: func(q refresh.Query) error {
		if q.To.Before(noon.Add(20 * time.Minute)) {
			return series.ErrNoSeries
		}
		return nil
	}}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for i := range 22 {
		now := noon.Add(time.Duration(i) * step)
		e := entry(t, loop.Step(t.Context(), now), "llama")
		if served, there := e.State.Serves(), i > 20; served != there {
			t.Errorf("minute %d: %s", i, e.ReadyMessage())
		}
	}
}

// blocking answers slow queries only when released.
type blocking struct {
	demandSource
	release chan struct{}
}

func (b *blocking) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	if q.Expr == "slow" {
		select {
		case <-b.release:
		case <-ctx.Done():
			return forecast.Series{}, fmt.Errorf("%w: %w", series.ErrUnavailable, ctx.Err())
		}
	}
	return b.demandSource.Fetch(ctx, q)
}

func TestSlowQueryDelaysOnlyItself(t *testing.T) {
	source := &blocking{demandSource: demandSource{demand: daily}, release: make(chan struct{})}
	slow := jobOf("slow")
	slow.Expr = "slow"
	loop, snapshots := loopWith(t, refresh.Config{Grace: 5 * time.Second}, source, fixedJobs{slow, jobOf("quick")})
	s := loop.Step(t.Context(), noon)
	if got := entry(t, s, "slow").State; got != snapshot.Pending || s.Pending != 1 {
		t.Errorf("the slow one is %s, %d pending", got, s.Pending)
	}
	if got := entry(t, s, "quick").State; got != snapshot.Ready {
		t.Errorf("the quick one is %s", got)
	}
	close(source.release)
	for i := 1; i < 100 && entry(t, snapshots.Load(), "slow").State != snapshot.Ready; i++ {
		loop.Step(t.Context(), noon.Add(time.Duration(i)*step))
	}
	if e := entry(t, snapshots.Load(), "slow"); e.State != snapshot.Ready {
		t.Errorf("once released: %s", e.ReadyMessage())
	}
}

func TestBadSamplesBecomeGapsWithACondition(t *testing.T) {
	source := &demandSource{demand: func(at time.Time) float64 {
		switch at.Minute() % 10 {
		case 3:
			return math.Inf(1)
		case 5:
			return -4
		case 7:
			return 1e300
		case 8:
			return math.NaN()
		}
		return daily(at)
	}}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	if c := condition(t, e, snapshot.ConditionData); c.True || !strings.Contains(c.Message, "negative") {
		t.Errorf("data condition %+v", c)
	}
	if v := e.Decision.Value; math.IsNaN(v) || math.IsInf(v, 0) || v < e.Observed || v > 400 {
		t.Errorf("serves %v on %v observed: %s", v, e.Observed, e.ReadyMessage())
	}
}

func TestClockThatGoesBackwards(t *testing.T) {
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	loop.Step(t.Context(), noon)
	e := entry(t, loop.Step(t.Context(), noon.Add(-time.Hour)), "llama")
	if c := condition(t, e, snapshot.ConditionSource); c.True || c.Reason != "ClockBehind" {
		t.Errorf("source condition %+v, want ClockBehind", c)
	}
	if len(source.queries) != 1 {
		t.Errorf("%d queries, want none into the past", len(source.queries))
	}
	e = entry(t, loop.Step(t.Context(), noon.Add(step)), "llama")
	if e.State != snapshot.Ready || !condition(t, e, snapshot.ConditionSource).True {
		t.Errorf("once the clock is right again: %+v", e.Conditions)
	}
}

// hanging sources answer nothing until their timeout.
type hanging struct{ demandSource }

func (h *hanging) Fetch(ctx context.Context, q refresh.Query) (forecast.Series, error) {
	if q.Source.Name != "" {
		<-ctx.Done()
		return forecast.Series{}, fmt.Errorf("%w: %w", series.ErrUnavailable, ctx.Err())
	}
	return h.demandSource.Fetch(ctx, q)
}

// Many tenants whose stores hang, with more Forecasts than there are slots, neither keep the others from being queried
// nor delay the publication of their values.
func TestHangingSourcesDelayOnlyTheirTenants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tenants, each, grace = 5, 4, 5 * time.Second
		jobs := fixedJobs{jobOf("healthy")}
		for i := range tenants * each {
			hung := jobOf(fmt.Sprintf("hung-%d", i))
			hung.Key.Namespace = fmt.Sprintf("tenant-%d", i%tenants)
			hung.Source = refresh.SourceRef{Name: hung.Key.Namespace}
			jobs = append(jobs, hung)
		}
		loop, _ := loopWith(t, refresh.Config{Grace: grace, Concurrency: 8, PerNamespace: 4},
			&hanging{demandSource{demand: daily}}, jobs)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for i := range 6 {
			began := time.Now()
			s := loop.Step(ctx, noon.Add(time.Duration(i)*step))
			e := entry(t, s, "healthy")
			want := noon.Add(time.Duration(i-1) * step)
			if e.State != snapshot.Ready && !e.Partial || e.Partial && i > 0 || !e.SampleTime.Equal(want) {
				t.Errorf("step %d: %s, newest sample %s, want %s", i, e.State, e.SampleTime, want)
			}
			// The first step waits for every first history.
			if took := time.Since(began); i > 0 && took > grace/10 {
				t.Errorf("step %d took %s, want at most a tenth of the grace of %s", i, took, grace)
			}
			time.Sleep(20 * time.Second)
		}
		cancel()
		synctest.Wait()
	})
}

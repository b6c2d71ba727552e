package refresh_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

// manyJobs are more Forecasts than read their whole history at once.
func manyJobs() fixedJobs {
	var jobs fixedJobs
	for i := range 40 * runtime.GOMAXPROCS(0) {
		t := jobOf(fmt.Sprintf("model-%03d", i))
		t.History, t.Models = 24*time.Hour, []string{"ses"}
		jobs = append(jobs, t)
	}
	return jobs
}

// isWhole reports whether a query reads more than the newest history.
func isWhole(q refresh.Query) bool { return q.To.Sub(q.From) > 2*time.Hour }

// fetchFunc is a source that always answers.
type fetchFunc func(refresh.Query) forecast.Series

func (f fetchFunc) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	return f(q), nil
}

// untilWhole steps until every Forecast has its whole history.
func untilWhole(t *testing.T, loop *refresh.Loop, now time.Time) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		if s := loop.Step(t.Context(), now); s.Partial == 0 && s.Pending == 0 {
			return
		}
	}
	t.Fatal("after a minute some Forecasts have a part of their history only")
}

// Of many Forecasts that start at once all have a value before any has its whole history, and in the end the values of a Forecast
// that read it at once.
func TestManyForecastsAnswerFromTheirNewestHistoryFirst(t *testing.T) {
	source := &demandSource{demand: daily}
	jobs := manyJobs()
	loop, _ := newLoop(t, source, jobs)
	first := loop.Step(t.Context(), noon)
	if first.Partial != len(jobs) || first.Pending > 0 {
		t.Fatalf(
			"after a step %d of %d Forecasts have a part of their history, %d have none",
			first.Partial,
			len(jobs),
			first.Pending,
		)
	}
	for _, e := range first.Entries("") {
		if e.State != snapshot.Warming || !(e.Decision.Value >= e.Observed) || !(e.Observed > 0) {
			t.Fatalf("%s is %s and serves %v of %v", e.Key, e.State, e.Decision.Value, e.Observed)
		}
		if text := condition(
			t,
			e,
			snapshot.ConditionReady,
		).Message; !strings.Contains(
			text,
			"while Forewarm reads the rest",
		) {
			t.Fatalf("Ready says: %s", text)
		}
	}
	for _, q := range source.queries {
		if isWhole(q) {
			t.Fatalf("the whole history from %s on was read before every Forecast had an answer", q.From)
		}
	}
	untilWhole(t, loop, noon)
	now := noon.Add(step)
	many := loop.Step(t.Context(), now)
	alone, _ := newLoop(t, &demandSource{demand: daily}, jobs[:3])
	few := alone.Step(t.Context(), now)
	for _, job := range jobs[:3] {
		sameBits(t, "of many", few.Get(job.Key), many.Get(job.Key))
	}
}

// Forecasts that an autoscaler reads come first, then those whose demand moves most.
func TestTheMostNeededHistoryIsReadFirst(t *testing.T) {
	jobs, atOnce := manyJobs(), 16*runtime.GOMAXPROCS(0)
	for i := range jobs {
		jobs[i].Expr = "calm"
		switch {
		case i >= len(jobs)-atOnce/2:
			jobs[i].Expr = "read"
			jobs[i].Autoscalers = []decide.Autoscaler{{Name: "HorizontalPodAutoscaler/llama", HPA: defaultHPA()}}
		case i >= len(jobs)-atOnce:
			jobs[i].Expr = "wild"
		}
	}
	whole := make(chan refresh.Query, len(jobs))
	wild := func(at time.Time) float64 { return 100 + float64(at.Minute()) }
	calm := func(at time.Time) float64 { return 100 + float64(at.Minute()%2) }
	release := make(chan struct{})
	loop, _ := loopWith(
		t,
		refresh.Config{Grace: time.Second, Concurrency: len(jobs), PerNamespace: len(jobs)},
		fetchFunc(func(q refresh.Query) forecast.Series {
			if isWhole(q) {
				whole <- q
				<-release
			}
			if q.Expr == "wild" {
				return answer(q, wild)
			}
			return answer(q, calm)
		}),
		jobs,
	)
	if s := loop.Step(t.Context(), noon); s.Partial != len(jobs) {
		t.Fatalf("%d of %d have a part", s.Partial, len(jobs))
	}
	loop.Step(t.Context(), noon)
	count := map[string]int{}
	for range atOnce {
		count[(<-whole).Expr]++
	}
	if count["read"] != atOnce/2 || count["wild"] != atOnce/2 {
		t.Errorf("the first %d histories are %v, want those that are read and wild", atOnce, count)
	}
	if s := loop.Step(t.Context(), noon.Add(step)); s.Get(jobs[0].Key).SampleTime != noon {
		t.Errorf(
			"a Forecast that waits for its turn has its newest sample at %s, want %s",
			s.Get(jobs[0].Key).SampleTime,
			noon,
		)
	}
	close(release)
	untilWhole(t, loop, noon.Add(step))
}

// A namespace whose whole histories hang takes no turn from another's, and its own Forecasts answer from what they have.
func TestHangingHistoriesHoldUpNoOtherNamespace(t *testing.T) {
	jobs := manyJobs()
	for i := range jobs[:len(jobs)/2] {
		jobs[i].Key.Namespace = "slow"
	}
	release := make(chan struct{})
	defer close(release)
	source := fetchFunc(func(q refresh.Query) forecast.Series {
		if isWhole(q) && q.Namespace == "slow" {
			<-release
		}
		return answer(q, daily)
	})
	loop, _ := loopWith(t, refresh.Config{Grace: time.Second}, source, jobs)
	for begun := time.Now(); ; {
		s := loop.Step(t.Context(), noon)
		slow, other := 0, 0
		for _, e := range s.Entries("") {
			switch {
			case !(e.Decision.Value > 0):
				t.Fatalf("%s has no value", e.Key)
			case !e.Partial:
			case e.Key.Namespace == "slow":
				slow++
			default:
				other++
			}
		}
		if other == 0 && slow == len(jobs)/2 {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d Forecasts of another namespace wait for their history", other)
		}
	}
}

// Where the whole history cannot be read, the newest serves on, says why, and is replaced once it can.
func TestHistoryThatCannotBeReadWhole(t *testing.T) {
	failing := true
	source := &demandSource{demand: daily, fail: func(q refresh.Query) error {
		if failing && isWhole(q) {
			return errors.New("query processing would load too many samples")
		}
		return nil
	}}
	loop, _ := newLoop(t, source, manyJobs())
	var s *snapshot.Snapshot
	now := noon
	for range 5 {
		s = loop.Step(t.Context(), now)
		now = now.Add(step)
	}
	e := entry(t, s, "model-000")
	if newest := now.Add(-2 * step); !e.SampleTime.Equal(newest) || !(e.Decision.Value > 0) {
		t.Errorf("serves %v as of %s, want a value as of %s", e.Decision.Value, e.SampleTime, newest)
	}
	if text := condition(t, e, snapshot.ConditionReady).Message; !strings.Contains(text, "too many samples") {
		t.Errorf("Ready says: %s", text)
	}
	failing = false
	untilWhole(t, loop, now.Add(5*time.Minute))
}

// A history whose newest part has no sample is read whole, too.
func TestHistoryWithoutTheNewestPart(t *testing.T) {
	source := &demandSource{demand: daily, fail: func(q refresh.Query) error {
		if !isWhole(q) {
			return series.ErrNoSeries
		}
		return nil
	}}
	loop, _ := newLoop(t, source, manyJobs())
	untilWhole(t, loop, noon)
	if s := loop.Step(t.Context(), noon); !(entry(t, s, "model-000").Observed > 0) {
		t.Error("the history was not read")
	}
}

// bubbleClock is the time of a synctest bubble.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) WaitUntil(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Histories that wait for their turn are read one after the other, and not when the next sample is due.
func TestHistoriesWaitForNoSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := manyJobs()
		loop, snapshots := newLoop(t, &demandSource{demand: daily}, jobs)
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- loop.Run(ctx, bubbleClock{}) }()
		begun := time.Now()
		for time.Since(begun) < time.Hour {
			time.Sleep(100 * time.Millisecond)
			if s := snapshots.Load(); s != nil && s.Pending == 0 && s.Partial == 0 {
				break
			}
		}
		if took, least := time.Since(begun), time.Duration(len(jobs))*time.Second/16; took > least {
			t.Errorf("%d histories were read after %s, want %s at most", len(jobs), took, least)
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// Most steps find nothing new: the duration that is told is that of the longest one, for a minute at least and two at most.
func TestLongestStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 400 * time.Millisecond
		begun := time.Now()
		source := &demandSource{demand: daily, fail: func(refresh.Query) error {
			if since := time.Since(begun); since >= 10*time.Minute && since < 11*time.Minute {
				time.Sleep(slow)
			}
			return nil
		}}
		loop, snapshots := newLoop(t, source, fixedJobs{jobOf("llama")})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- loop.Run(ctx, bubbleClock{}) }()
		for time.Since(begun) < 14*time.Minute {
			time.Sleep(time.Second)
			since := time.Since(begun)
			told := snapshots.Load().Loop.StepSeconds >= slow.Seconds()
			slowIs := since > 10*time.Minute+20*time.Second && since < 11*time.Minute
			slowWas := since > 12*time.Minute+20*time.Second
			if slowIs && !told || told && (since < 10*time.Minute || slowWas) {
				t.Errorf("after %s a slow step is told: %v", since, told)
			}
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

// A step does not wait for Forecasts that are refitted: of a large fleet some are at every step. The next one has their values.
func TestFitsDelayNoStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answersAfter, grace = 3 * time.Second, 10 * time.Second
		source := &demandSource{demand: daily, fail: func(refresh.Query) error {
			time.Sleep(answersAfter)
			return nil
		}}
		loop, _ := loopWith(t, refresh.Config{Grace: grace, Refit: time.Hour}, source, fixedJobs{jobOf("llama")})
		now, fits := noon, 0
		loop.Step(t.Context(), now)
		for range 120 {
			now = now.Add(step)
			begun := time.Now()
			s := loop.Step(t.Context(), now)
			refits := s.Loop.Refits
			if took := time.Since(begun); took < answersAfter {
				fits++
				if took != grace/10 {
					t.Errorf("a step that refits took %s, want %s", took, grace/10)
				}
				time.Sleep(grace)
				if s = loop.Step(t.Context(), now.Add(time.Second)); s.Loop.Refits == refits {
					t.Error("a step did not wait, and nothing was fitted")
				}
			} else if took != answersAfter {
				t.Errorf("a step took %s, want %s", took, answersAfter)
			}
			if at, want := entry(t, s, "llama").SampleTime, now.Add(-step); at.Before(want) {
				t.Errorf("the newest sample is of %s, want %s", at, want)
			}
		}
		if fits != 2 {
			t.Errorf("%d steps of 120 did not wait for a fit, want 2: one an hour", fits)
		}
	})
}

package refresh_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// lateSource answers with what has arrived by now.
type lateSource struct {
	now     time.Time
	arrived func(at, now time.Time) float64
}

func (s *lateSource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	return answer(q, func(at time.Time) float64 { return s.arrived(at, s.now) }), nil
}

// hashed is a number from 0 to 1 for a time.
func hashed(at time.Time) float64 {
	return math.Mod(math.Abs(math.Sin(float64(at.Unix())*12.9898))*43758.5453, 1)
}

// lateForms are ways in which samples come late, by up to so much: what is known of a sample of some age.
func lateForms() map[string]func(at time.Time, age, late time.Duration) float64 {
	const cycle = 3 * time.Hour
	half := func(at time.Time) float64 { return 0.53 * noisy(at) }
	return map[string]func(at time.Time, age, late time.Duration) float64{
		"half of a sum, as one of two shards is behind": func(at time.Time, age, late time.Duration) float64 {
			if age < late {
				return half(at)
			}
			return noisy(at)
		},
		"a sum that grows by and by": func(at time.Time, age, late time.Duration) float64 {
			return noisy(at) * min(1, 0.3+0.7*float64(age)/float64(late))
		},
		"nothing yet": func(at time.Time, age, late time.Duration) float64 {
			if age < late && at.Truncate(cycle).Add(2*late).After(at) {
				return math.NaN()
			}
			return noisy(at)
		},
		"each sample at its own pace": func(at time.Time, age, late time.Duration) float64 {
			if age < time.Duration(hashed(at)*float64(late)) {
				return half(at)
			}
			return noisy(at)
		},
		"in batches": func(at time.Time, age, late time.Duration) float64 {
			if at.Add(age).Before(at.Truncate(late).Add(late)) {
				return half(at)
			}
			return noisy(at)
		},
		"a recording rule that repeats the sample before": func(at time.Time, age, late time.Duration) float64 {
			if age < late {
				return noisy(at.Add(-late))
			}
			return noisy(at)
		},
		"too much at first, as two copies report": func(at time.Time, age, late time.Duration) float64 {
			if age < late {
				return 1.4 * noisy(at)
			}
			return noisy(at)
		},
		"an outage that is filled in later": func(at time.Time, age, late time.Duration) float64 {
			begun := at.Truncate(cycle)
			if at.Before(begun.Add(late)) && at.Add(age).Before(begun.Add(late+5*time.Minute)) {
				return math.NaN()
			}
			return noisy(at)
		},
	}
}

// Forty kinds of lateness, and replicas that restart at random: two steps after the last change all serve the same within
// 0.1 %, and the same bits from the next anchor on.
func TestReplicasAgreeOnLateSamples(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	lates := []time.Duration{3 * time.Minute}
	if os.Getenv("FOREWARM_LONG") != "" {
		lates = []time.Duration{time.Minute, 3 * time.Minute, 6 * time.Minute, 12 * time.Minute, 29 * time.Minute}
	}
	for form, known := range lateForms() {
		for _, late := range lates {
			t.Run(fmt.Sprintf("%s, %s", form, late), func(t *testing.T) {
				t.Parallel()
				agreeOn(t, late, known)
			})
		}
	}
}

func agreeOn(t *testing.T, late time.Duration, known func(at time.Time, age, late time.Duration) float64) {
	t.Helper()
	const refit = time.Hour
	last := noon.Add(2 * refit) // Then the source has caught up, and stays so.
	source := &lateSource{arrived: func(at, now time.Time) float64 {
		if !now.Before(last) {
			return noisy(at)
		}
		return known(at, now.Sub(at)-step, late)
	}}
	all := jobOf("llama")
	all.History, all.Seasons = 24*time.Hour, []time.Duration{2 * time.Hour}
	all.Settings = decide.Settings{Late: 0.01, Wait: 30 * time.Second, Target: 10, Lead: all.Lead}
	all.Autoscalers = hpaWithMax(50)
	start := func() *refresh.Loop {
		out, _ := loopWith(t, refresh.Config{Refit: refit, Grace: time.Minute}, source, fixedJobs{all})
		return out
	}
	lasting, restarted := start(), start()
	rng := rand.New(rand.NewPCG(1, uint64(late)))
	for source.now = noon; source.now.Before(last.Add(refit + 70*time.Minute)); source.now = source.now.Add(step) {
		if rng.IntN(40) == 0 && source.now.Before(last) {
			restarted = start()
		}
		one := entry(t, lasting.Step(t.Context(), source.now), "llama")
		two := entry(t, restarted.Step(t.Context(), source.now), "llama")
		since := source.now.Sub(last)
		if differs := math.Abs(one.Decision.Value - two.Decision.Value); since >= step &&
			!(differs <= 0.001*one.Decision.Value) {
			t.Fatalf("%s after the last change %v and %v are served", since, one.Decision.Value, two.Decision.Value)
		}
		if diff := bitwise(one, two); diff != "" &&
			since > refit+time.Hour {
			t.Fatalf("%s after the last change (-lasting +restarted)\n%s", since, diff)
		}
	}
}

// A source that lags by five minutes is read five minutes later, and forecast so much further.
func TestADelayIsWaitedFor(t *testing.T) {
	source := &lateSource{arrived: func(at, now time.Time) float64 {
		if now.Sub(at) < 5*time.Minute {
			return 0.53 * daily(at)
		}
		return daily(at)
	}}
	delayed := jobOf("llama")
	delayed.Delay = 5 * time.Minute
	loop, _ := newLoop(t, source, fixedJobs{delayed})
	prompt, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{jobOf("llama")})
	for source.now = noon; source.now.Before(noon.Add(time.Hour)); source.now = source.now.Add(step) {
		e := entry(t, loop.Step(t.Context(), source.now), "llama")
		at := source.now.Add(-step - delayed.Delay)
		longer := e.Window - entry(t, prompt.Step(t.Context(), source.now), "llama").Window
		if e.State != snapshot.Ready || !e.SampleTime.Equal(at) || e.Observed != float64(float32(daily(at))) ||
			longer != delayed.Delay {
			t.Fatalf("%s: %v of %s observed, a window of %s", e.ReadyMessage(), e.Observed, e.SampleTime, e.Window)
		}
	}
}

// Later, the newest five minutes are read again; at first, and every ten minutes, an hour.
func TestStepAsksForWhatIsNewAndForTheNewest(t *testing.T) {
	source := &demandSource{demand: daily}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for i := range 121 {
		// Twice within a step: the second has nothing to ask for.
		loop.Step(t.Context(), noon.Add(time.Duration(i)*step))
		loop.Step(t.Context(), noon.Add(time.Duration(i)*step+20*time.Second))
	}
	if len(source.queries) != 121 {
		t.Fatalf("%d queries for 121 steps", len(source.queries))
	}
	if n := source.queries[0].Points(); n < 3*24*60 {
		t.Errorf("the history has %d points", n)
	}
	for i, q := range source.queries[1:] {
		want, again := noon.Add(time.Duration(i)*step), q.To.Sub(q.From)
		whole := q.To.Minute()%10 == 0
		if !q.To.Equal(want) || again < 5*step || again > 61*step || whole != (again > 59*step) && i > 5 {
			t.Errorf("query %d asks for %s to %s, want to %s", i+1, q.From, q.To, want)
		}
	}
	if last := source.queries[len(source.queries)-2]; last.Points() > 9 {
		t.Errorf("after two hours without a change %d points are read", last.Points())
	}
}

// One of two shards is three minutes behind: half of the demand is not taken for a fall.
func TestAnIncompleteSumIsNoFall(t *testing.T) {
	source := &lateSource{arrived: func(at, now time.Time) float64 {
		if now.Sub(at) < 4*time.Minute {
			return 0.53 * daily(at)
		}
		return daily(at)
	}}
	loop, _ := newLoop(t, source, fixedJobs{jobOf("llama")})
	for source.now = noon; source.now.Before(noon.Add(3 * time.Hour)); source.now = source.now.Add(step) {
		e := entry(t, loop.Step(t.Context(), source.now), "llama")
		least := math.Inf(1)
		for ago := range 7 {
			least = min(least, daily(source.now.Add(-time.Duration(ago)*step)))
		}
		if source.now.Sub(noon) > 5*time.Minute && e.Observed < 0.999*least {
			t.Fatalf("after %s %.4g of at least %.4g are observed", source.now.Sub(noon), e.Observed, least)
		}
	}
	c := condition(t, entry(t, loop.Step(t.Context(), source.now), "llama"), snapshot.ConditionData)
	if c.Reason != snapshot.ReasonIncomplete {
		t.Errorf("the condition is %+v", c)
	}
}

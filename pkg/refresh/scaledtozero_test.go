package refresh_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// demandWithReplicas is a signal that comes from the replicas: there are none from ten at night to six.
func demandWithReplicas(t time.Time) float64 {
	if t.Hour() >= 22 || t.Hour() < 6 {
		return math.NaN()
	}
	return daily(t)
}

// scaledToZeroAtNight is the record of a workload that slept the nights before a day; the last night has no end where it is open.
func scaledToZeroAtNight(before time.Time, n int, open bool) demand.ZeroPeriods {
	var changes []int64
	midnight := before.Truncate(24 * time.Hour)
	for i := n - 1; i >= 0; i-- {
		evening := midnight.Add(time.Duration(-24*i-2) * time.Hour)
		changes = append(changes, evening.Unix(), evening.Add(8*time.Hour).Unix())
	}
	if open {
		changes = changes[:len(changes)-1]
	}
	r, err := demand.NewZeroPeriods(changes)
	if err != nil {
		panic(err)
	}
	return r
}

func TestAbsenceAtZeroReplicasIsNoDemand(t *testing.T) {
	source := &demandSource{demand: demandWithReplicas}
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].Workload = "Deployment/llama"
	jobs[0].ScaledToZero = scaledToZeroAtNight(noon, 3, true)
	loop, _ := newLoop(t, source, jobs)
	night := noon.Truncate(24 * time.Hour).Add(3*time.Hour + 20*time.Second)
	e := entry(t, loop.Step(t.Context(), night), "llama")
	if e.State != snapshot.Ready || e.Observed != 0 || night.Sub(e.SampleTime) > 2*step {
		t.Errorf("at three in the night: %s, observed %v, sample of %s", e.ReadyMessage(), e.Observed, e.SampleTime)
	}
	c := condition(t, e, snapshot.ConditionScaledToZero)
	if !c.True || !strings.Contains(c.Message, "Deployment/llama has been scaled to zero") ||
		!strings.Contains(c.Message, "since 2026-11-17 22:00:00 UTC") {
		t.Errorf("%+v", c)
	}
	// Who starts in the night knows the same; and so does who finds no series at all any more.
	source.fail = func(q refresh.Query) error {
		if q.From.After(night.Add(-time.Hour)) {
			return fmt.Errorf("%w: nothing", series.ErrNoSeries)
		}
		return nil
	}
	later := night.Add(5 * step)
	here := entry(t, loop.Step(t.Context(), later), "llama")
	source.fail = nil
	newcomer, _ := newLoop(t, source, jobs)
	there := entry(t, newcomer.Step(t.Context(), later), "llama")
	sameBits(t, "two replicas differ", there, here)
}

// The end of the night comes to the loop as another record; nothing is read or fitted again for it.
func TestTheEndOfATimeAtZeroRebuildsNothing(t *testing.T) {
	source := &demandSource{demand: demandWithReplicas}
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].ScaledToZero = scaledToZeroAtNight(noon, 3, true)
	loop, _ := newLoop(t, source, jobs)
	morning := noon.Truncate(24 * time.Hour).Add(5*time.Hour + 30*time.Minute)
	before := loop.Step(t.Context(), morning).Loop.Refits
	jobs[0].ScaledToZero, _ = jobs[0].ScaledToZero.Observe(false, morning)
	s := loop.Step(t.Context(), morning.Add(5*step))
	e := entry(t, s, "llama")
	if s.Loop.Refits != before || len(source.queries) != 2 {
		t.Errorf("%d rebuilds, %d queries; want %d, 2", s.Loop.Refits, len(source.queries), before)
	}
	// The replicas start: what they have to do is not known.
	if got := e.SampleTime; !got.Equal(morning) || hasCondition(e, snapshot.ConditionScaledToZero) {
		t.Errorf("the newest sample is of %s, want %s; %s", got, morning, e.ReadyMessage())
	}
	e = entry(t, loop.Step(t.Context(), morning.Add(40*step)), "llama")
	if !(e.Observed > 0) || e.State != snapshot.Ready {
		t.Errorf("when the replicas are there: observed %v, %s", e.Observed, e.ReadyMessage())
	}
}

func TestAbsenceWithReplicasIsAGap(t *testing.T) {
	jobs := fixedJobs{jobOf("llama")}
	jobs[0].ScaledToZero = scaledToZeroAtNight(noon.Add(-24*time.Hour), 2, false)
	loop, _ := newLoop(t, &demandSource{demand: demandWithReplicas}, jobs)
	night := noon.Truncate(24 * time.Hour).Add(3 * time.Hour)
	if e := entry(t, loop.Step(t.Context(), night), "llama"); e.State != snapshot.Stale ||
		hasCondition(e, snapshot.ConditionScaledToZero) {
		t.Errorf("five hours without a sample: %s", e.ReadyMessage())
	}
}

// A workload that never had a replica has no series. No one is at fault, and the first sample is seen when it comes.
func TestNoSeriesYetAtZero(t *testing.T) {
	source := &demandSource{
		demand: daily,
		fail:   func(refresh.Query) error { return fmt.Errorf("%w: nothing", series.ErrNoSeries) },
	}
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, source, jobs)
	e := entry(t, loop.Step(t.Context(), noon), "llama")
	if e.State != snapshot.Pending {
		t.Fatal(e.ReadyMessage())
	}
	jobs[0].ScaledToZero, _ = demand.ZeroPeriods{}.Observe(true, noon)
	e = entry(t, loop.Step(t.Context(), noon.Add(5*step)), "llama")
	if !e.State.Serves() || e.Observed != 0 || e.Decision.Value != 0 {
		t.Errorf("at zero: observed %v, serves %v: %s", e.Observed, e.Decision.Value, e.ReadyMessage())
	}
}

func hasCondition(e *snapshot.ForecastSnapshot, kind string) bool {
	return slices.ContainsFunc(e.Conditions, func(c snapshot.Condition) bool { return c.Type == kind })
}

// asleepAtNight is a job whose workload may scale to zero, and the loop's time at three in the night.
func asleepAtNight() (refresh.Job, time.Time) {
	job := jobOf("llama")
	job.Workload, job.ScalesToZero = "Deployment/llama", true
	job.Autoscalers = []decide.Autoscaler{{
		Name: "HorizontalPodAutoscaler/llama",
		HPA: hpa.Spec{
			Min: 1, Max: 20, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 64_000}},
		},
	}}
	job.Settings = decide.Settings{Late: 0.01, Target: 64, Lead: 5 * time.Minute, Mode: decide.Floor}
	job.ScaledToZero = scaledToZeroAtNight(noon, 3, true)
	return job, noon.Truncate(24 * time.Hour).Add(3*time.Hour + 20*time.Second)
}

// A workload that may scale to zero sleeps at night, but not while a replica is starting, and a restart changes nothing.
func TestAsleepAtNight(t *testing.T) {
	job, night := asleepAtNight()
	for range 2 { // The second loop has just started.
		loop, _ := newLoop(t, &demandSource{demand: demandWithReplicas}, fixedJobs{job})
		e := entry(t, loop.Step(t.Context(), night), "llama")
		answer, err := e.Answer(decide.Overrides{}, night)
		if err != nil || answer.Value != 0 || !e.Decision.Zero.Asleep {
			t.Errorf("at three in the night: %+v, %v: %s", answer, err, e.Decision.Reason())
		}
	}
	for name, change := range map[string]func(*refresh.Job){
		"a replica is starting":            func(j *refresh.Job) { j.Starting = true },
		"an autoscaler may not be at zero": func(j *refresh.Job) { j.NeverZero = "of another HPA" },
	} {
		changed := job
		change(&changed)
		loop, _ := newLoop(t, &demandSource{demand: demandWithReplicas}, fixedJobs{changed})
		e := entry(t, loop.Step(t.Context(), night), "llama")
		if e.Decision.Zero.Asleep || changed.Starting && e.Decision.Value < 0.001 ||
			changed.NeverZero != "" && e.Decision.Zero.Applies {
			t.Errorf("%s, and %v is served: %+v", name, e.Decision.Value, e.Decision.Zero)
		}
	}
}

// Without newer samples the workload stays asleep, but not when a return of the demand is due.
func TestAReturnIsDueWithoutSamples(t *testing.T) {
	job, _ := asleepAtNight()
	job.StaleAfter = 12 * time.Hour
	source := &demandSource{demand: demandWithReplicas}
	loop, _ := newLoop(t, source, fixedJobs{job})
	at := noon.Truncate(24 * time.Hour).Add(5*time.Hour + 30*time.Minute)
	if e := entry(t, loop.Step(t.Context(), at), "llama"); !e.Decision.Zero.Asleep || !e.ReturnDue.After(at) {
		t.Fatalf("at half past five: %+v, a return is due at %s", e.Decision.Zero, e.ReturnDue)
	}
	source.fail = func(refresh.Query) error { return series.ErrUnavailable }
	for _, after := range []time.Duration{10 * time.Minute, 25 * time.Minute} {
		e := entry(t, loop.Step(t.Context(), at.Add(after)), "llama")
		if e.State != snapshot.FallingBack || e.Decision.Zero.Asleep != (after < 20*time.Minute) {
			t.Errorf("%s later: %s, %+v", after, e.State, e.Decision.Zero)
		}
	}
}

// An HPA that does not wake its workload is reported while demand is expected, and not at night.
func TestAnHPAThatIsDisabledAtZero(t *testing.T) {
	job, night := asleepAtNight()
	job.DisabledAtZero = []string{"HorizontalPodAutoscaler/llama"}
	loop, _ := newLoop(t, &demandSource{demand: demandWithReplicas}, fixedJobs{job})
	for _, c := range entry(t, loop.Step(t.Context(), night), "llama").Conditions {
		if c.Type == snapshot.ConditionAutoscalers {
			t.Errorf("at night: %+v", c)
		}
	}
	loop, _ = newLoop(t, &demandSource{demand: daily}, fixedJobs{job})
	c := condition(t, entry(t, loop.Step(t.Context(), noon), "llama"), snapshot.ConditionAutoscalers)
	if c.True || c.Reason != "DisabledAtZero" ||
		!strings.Contains(c.Message, "HorizontalPodAutoscaler/llama does not scale Deployment/llama") ||
		!strings.Contains(c.Message, "kubectl scale --replicas=1 deployment/llama -n inference") {
		t.Errorf("%+v", c)
	}
}

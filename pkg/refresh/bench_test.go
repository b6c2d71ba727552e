package refresh_test

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// fleetSize is how many Forecasts a fleet has, with 14 days of minutes each, every model among their candidates, and an objective.
const fleetSize = 1000

func thousandForecasts() fixedJobs {
	jobs := make(fixedJobs, fleetSize)
	for i := range jobs {
		t := jobOf(fmt.Sprintf("model-%04d", i))
		t.History, t.Models = 14*24*time.Hour, nil
		t.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: t.Lead}
		t.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: defaultHPA()}}
		jobs[i] = t
	}
	return jobs
}

// defaultHPA is an HPA as it comes, with a target of 10 for each replica.
func defaultHPA() hpa.Spec {
	return hpa.Spec{Min: 1, Max: 100, Cluster: hpa.DefaultCluster(), Metrics: []hpa.Metric{{
		Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 10_000,
	}}}
}

// noisy is a day cycle with bursts and noise that depend on the time alone.
func noisy(t time.Time) float64 {
	minute := float64(t.Unix() / 60)
	hash := math.Mod(math.Abs(math.Sin(minute*12.9898))*43758.5453, 1)
	burst := math.Max(0, math.Sin(minute/97)-0.9) * 600
	return math.Max(0, 100+60*math.Sin(2*math.Pi*minute/1440)+burst+20*(hash-0.5))
}

// BenchmarkFleet measures one core: the start with a thousand histories, then incremental steps, the memory that stays,
// and what the source itself costs.
func BenchmarkFleet(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	before := liveBytes()
	loop, snapshots := loopWith(b, refresh.Config{Grace: time.Hour}, &unrecordedSource{noisy}, thousandForecasts())
	begun := time.Now()
	now := noon
	first := time.Duration(0)
	for s := loop.Step(b.Context(), now); s.Partial > 0; s = loop.Step(b.Context(), now) {
		if first == 0 {
			first = time.Since(begun)
		}
	}
	start := time.Since(begun)
	loop.WaitForBackground()
	memory := liveBytes() - before
	rebuilds, steps := snapshots.Load().Loop.Refits, 0
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(step)
		loop.Step(b.Context(), now)
		steps++
	}
	// A metric that is reported before the loop is lost in it.
	b.ReportMetric(first.Seconds(), "s/first-answers")
	b.ReportMetric(start.Seconds(), "s/start")
	b.ReportMetric(float64(memory)/fleetSize/1000, "kB/Forecast")
	b.ReportMetric(float64(snapshots.Load().Loop.Refits-rebuilds)/float64(steps), "rebuilds/op")
	runtime.KeepAlive(loop)
}

// BenchmarkRebuild steps through 14 days: by the minute and by the server's default step, for a quantile and an objective.
// Besides the time it reports the memory that stays.
func BenchmarkRebuild(b *testing.B) {
	for _, step := range []time.Duration{time.Minute, 30 * time.Second} {
		h := forecaster.History{Series: forecast.Series{
			Start: noon, Step: step, Values: make([]float64, int(14*24*time.Hour/step)),
		}}
		for i := range h.Values {
			h.Values[i] = noisy(h.TimeAt(i))
		}
		c := forecaster.Config{
			Step: step, Window: 375 * time.Second, Settings: decide.Settings{Quantile: 0.95, Lead: 5 * time.Minute},
			Lifetime: 7 * time.Hour, // As on the server.
		}
		asked := c
		asked.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 5 * time.Minute}
		asked.DelaySteps, asked.Starts = 1, sim.Starts(3*time.Minute, 5*time.Minute)
		asked.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: defaultHPA()}}
		for name, c := range map[string]forecaster.Config{"quantile": c, "objective": asked} {
			b.Run(step.String()+"/"+name, func(b *testing.B) {
				var kept *forecaster.Forecaster
				before, begun, n := liveBytes(), cpuTime(b), 0
				for b.Loop() {
					kept = forecaster.New(c, h)
					n++
				}
				b.ReportMetric(float64((cpuTime(b)-begun).Milliseconds())/float64(n), "ms-CPU/op")
				b.ReportMetric(float64(liveBytes()-before)/1000, "kB")
				runtime.KeepAlive(kept)
			})
		}
	}
}

// cpuTime is what the process has taken of all processors: on a busy machine it says more than the time that has passed.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func liveBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

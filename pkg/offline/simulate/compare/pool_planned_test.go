package compare //nolint:testpackage // The pool under a plan is not exported.

import (
	"math"
	"math/rand/v2"
	stdsync "sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

const (
	step    = sim.DefaultSync
	podLead = 2 * time.Minute
	node    = 4 * time.Minute
)

func start() time.Time { return time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC) }

// busy is days of a demand of 5 to 15 replicas with noise and bursts.
func busy(days float64) forecast.Series {
	random := rand.New(rand.NewPCG(5, 6))
	s := forecast.Series{Start: start(), Step: step}
	burst := 0.0
	for i := range int(days * float64(day/step)) {
		burst *= 0.99
		if random.IntN(1500) == 0 {
			burst += 8 * random.Float64()
		}
		level := 10 - 5*math.Cos(2*math.Pi*float64(i)/float64(day/step)) + burst
		s.Values = append(s.Values, math.Max(0, level+0.3*random.NormFloat64()))
	}
	return s
}

// windows are those that the server's forecaster knows of a demand.
func windows(s forecast.Series) (*windowPeaks, error) {
	p := forecastRecorder{Forewarm: simulate.NewForewarm(forecaster.Config{
		Step: Step, Window: leadtime.Window(podLead + node), Rate: true,
		Horizons: []time.Duration{leadtime.Window(podLead)},
		Models:   []string{windowpeak.SES}, Settings: decide.Settings{Quantile: 0.95},
	})}
	_, err := simulate.ServedValues(s, Step, &p)
	return newWindowPeaks(s, p.windows), err
}

type forecastRecorder struct {
	*simulate.Forewarm
	windows [][]windowpeak.Window
}

func (k *forecastRecorder) Serve(o simulate.Observation) float64 {
	v := k.Forewarm.Serve(o)
	k.windows = append(k.windows, k.Forecaster().Windows())
	return v
}

// world is a workload on nodes that take their time.
func world(s forecast.Series) simulate.Config {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 5 * time.Minute
	return simulate.Config{Demand: s, Spec: sim.Spec{
		Capacity: 1, PodLead: sim.Constant(podLead),
		Nodes: &sim.Nodes{Lead: sim.Constant(node), PodsPerNode: 1, KeepIdle: 10 * time.Minute},
		HPA: hpa.Spec{
			Min: 1, Max: 60, Cluster: hpa.DefaultCluster(),
			Metrics:  []hpa.Metric{{Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}}
}

func keeperOf(w *windowPeaks, p warmpool.Pool, near, far []float64, alike shiftedMembers) *plannedPool {
	p.Pod, p.Node, p.GPUs, p.Quantile = podLead, node, 1, 0.95
	return newPlannedPool(plannedPool{
		pool: p, windows: w, near: near, far: far, alike: alike, from: start().Add(25 * time.Hour),
	}, warmpool.Member{Name: "llama", Chunks: 1, Target: 1, MinReplicas: 1, MaxReplicas: 60})
}

// served are what stands in for forewarm here: the demand with so much on top.
func served(s forecast.Series, times float64) []float64 {
	out := make([]float64, s.Len())
	for i := 1; i < len(out); i++ {
		out[i] = s.Values[i-1] * times
	}
	return out
}

// long is the demand of most tests, and known what is known of it: reading takes its time.
var (
	long  = stdsync.OnceValue(func() forecast.Series { return busy(1.4) })
	known = stdsync.OnceValues(func() (*windowPeaks, error) { return windows(long()) })
)

// run is a pool, and how much forewarm serves on top of the demand where it looks ahead by a pod and by a node.
type run struct {
	warmpool.Pool

	near, far float64
}

// played are the moments of a run with a pool.
func (r run) played(t *testing.T, s forecast.Series, w *windowPeaks, err error) ([]sim.StepResult, PoolTally) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	k := keeperOf(w, r.Pool, served(s, r.near), served(s, r.far), newShiftedMembers(1, s.Len(), 0))
	c := world(s)
	c.Pool = k
	var out []sim.StepResult
	c.Record = func(m sim.StepResult) { out = append(out, m) }
	if _, err := simulate.Run(c, k.Policy(0)); err != nil {
		t.Fatal(err)
	}
	return out, k.tally
}

// What the pool holds and what comes of it is the same up to a time, whatever comes after it.
func TestThePoolDoesNotSeeTheFuture(t *testing.T) {
	t.Parallel()
	s, other := long(), busy(1.4)
	from := s.Len() * 9 / 10
	for i := from; i < other.Len(); i++ {
		other.Values[i] = 2*other.Values[i] + 7
	}
	r := run{warmpool.Pool{Max: 40}, 1.1, 1.5}
	w, err := known()
	first, tally := r.played(t, s, w, err)
	w, err = windows(other)
	second, _ := r.played(t, other, w, err)
	idle := 0
	for i := range from {
		idle += first[i].Idle
		if first[i] != second[i] {
			t.Fatalf("step %d of %d: %+v, and %+v before another future", i, from, first[i], second[i])
		}
	}
	if idle == 0 || tally.Covered == 0 {
		t.Errorf("%d places stood idle, covered %d of %d: this test is about nothing", idle, tally.Covered, tally.All)
	}
	if cmp.Equal(first[from:], second[from:]) {
		t.Error("another future makes no difference")
	}
}

// A pool that holds more than is ever wanted covers always, and replicas start as if there always were places.
func TestAPoolWithoutBounds(t *testing.T) {
	t.Parallel()
	s := long()
	w, err := known()
	all, tally := run{warmpool.Pool{Min: 200, Max: 200}, 1.2, 1.5}.played(t, s, w, err)
	if share := tally.Share(tally.Covered); share != 1 {
		t.Errorf("covered for %v of the time", share)
	}
	free := world(s)
	free.Nodes = nil
	i, late, settled := 0, 0.0, int(25*time.Hour/step)
	free.Record = func(m sim.StepResult) {
		late += m.Late
		if got := all[i]; i >= settled && (got.Replicas != m.Replicas || got.Ready != m.Ready || got.Late != m.Late) {
			t.Fatalf("step %d: %+v, where there always are places %+v", i, got, m)
		}
		i++
	}
	if _, err := simulate.Run(free, simulate.NewTape(served(s, 1.2))); err != nil {
		t.Fatal(err)
	}
	if late == 0 {
		t.Error("nothing was late: this test is about nothing")
	}
}

// A pool that may hold nothing changes nothing, to the last bit.
func TestAnEmptyPool(t *testing.T) {
	t.Parallel()
	s := long()
	w, err := known()
	all, _ := run{warmpool.Pool{}, 1.2, 1.2}.played(t, s, w, err)
	c, i := world(s), 0
	c.Record = func(m sim.StepResult) {
		if all[i] != m {
			t.Fatalf("step %d: %+v, without a pool %+v", i, all[i], m)
		}
		i++
	}
	if _, err := simulate.Run(c, simulate.NewTape(served(s, 1.2))); err != nil {
		t.Fatal(err)
	}
}

// The budget bounds what stands idle a day: once it is spent nothing is held until the next. What the report says was idle
// is what every step was.
func TestBudget(t *testing.T) {
	t.Parallel()
	s := long()
	w, err := known()
	const budget = 2
	for _, p := range []warmpool.Pool{{Max: 40}, {Max: 40, Budget: budget}} {
		all, tally := run{p, 1, 1}.played(t, s, w, err)
		idle := map[int]float64{}
		for _, m := range all {
			idle[m.At.YearDay()] += float64(m.Idle) * step.Hours()
		}
		second := idle[start().Add(day).YearDay()]
		// What was held when it was spent stands idle for one step more.
		if p.Budget > 0 && (second > budget+0.2 || tally.OverBudget == 0) || p.Budget == 0 && second < 2*budget {
			t.Errorf("budget %v: %v idle GPU-hours, over it for %d of %d", p.Budget, second, tally.OverBudget,
				tally.All)
		}
	}
}

// A season must have been seen, and then every step is known by.
func TestNothingIsPlannedOnTheFirstDay(t *testing.T) {
	t.Parallel()
	s := busy(1.3)
	s.Start = s.Start.Add(5 * time.Hour)
	w, err := windows(s)
	if err != nil {
		t.Fatal(err)
	}
	fallback, held := 3, map[bool]int{}
	k := keeperOf(w, warmpool.Pool{Max: 40, Fallback: fallback}, served(s, 1), served(s, 1),
		newShiftedMembers(1, s.Len(), 0))
	for i := range s.Values {
		at := s.TimeAt(i)
		places := k.Hold(at, []sim.Placement{{Placed: 5}})
		held[at.Sub(s.Start) >= 24*time.Hour] = places
	}
	if held[false] != fallback || held[true] == fallback {
		t.Errorf("%d and then %d held, want the fallback of %d and another number", held[false], held[true], fallback)
	}
}

// Members alike go round in whole days, and each sees the same distribution of the hour.
func TestShiftedMembers(t *testing.T) {
	t.Parallel()
	perDay := int(day / step)
	n, from := 5*perDay+100, perDay
	a := newShiftedMembers(9, n, from)
	if a.Count != 4 || a.Steps(n) != 5*perDay {
		t.Fatalf("%d members of %d steps, want 4 of five days", a.Count, a.Steps(n))
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	for member, want := range [][]int{{0, 1, 2, 3, 4}, {1, 2, 3, 4, 1}, {2, 3, 4, 1, 2}, {3, 4, 1, 2, 3}} {
		var days []int
		for i, v := range a.Values(member, values) {
			if int(v)%perDay != i%perDay {
				t.Fatalf("member %d is at %v of its day at %d", member, v, i)
			}
			if i%perDay == 7 {
				days = append(days, int(v)/perDay)
			}
		}
		if diff := cmp.Diff(want, days); diff != "" {
			t.Errorf("the days of member %d (-want +got)\n%s", member, diff)
		}
	}
	if one := newShiftedMembers(3, perDay, perDay/2); one.Count != 1 || one.Steps(perDay) != perDay {
		t.Errorf("%d members of half a day, want 1", one.Count)
	}
}

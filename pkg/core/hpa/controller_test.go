package hpa_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// noon is the start of every test.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// spec is an HPA of 1 to 50 replicas on one external total, with 4,000 tokens/s per replica.
func spec() hpa.Spec {
	return hpa.Spec{
		Min: 1, Max: 50, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{Name: "llama", Source: hpa.External, Type: hpa.AverageValue, Target: 4_000_000}},
	}
}

func newController(t *testing.T, s hpa.Spec) *hpa.Controller {
	t.Helper()
	c, err := hpa.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// observed is what the controller reads with so many replicas, all existing and ready, and single-valued metrics.
func observed(replicas int32, totals ...int64) hpa.Observed {
	o := hpa.Observed{Replicas: replicas, Existing: replicas, Pods: replicas, Ready: replicas}
	for _, total := range totals {
		o.Readings = append(o.Readings, hpa.Reading{Values: []int64{total}})
	}
	return o
}

func TestProposal(t *testing.T) {
	average, value := spec(), spec()
	value.Metrics[0].Type = hpa.Value
	for _, test := range []struct {
		name string
		spec hpa.Spec
		see  hpa.Observed
		want int32
	}{
		{"a partial replica rounds up", average, observed(3, 17_000_000), 5},
		{"the tolerance swallows the eleventh replica", average, observed(10, 41_000_000), 10},
		{"and lets it come beyond a tenth", average, observed(10, 44_000_001), 12},
		{"a tenth less changes nothing either", average, observed(10, 36_000_000), 10},
		{"a total does not care what is ready", average, hpa.Observed{
			Replicas: 2, Existing: 2, Pods: 2, Readings: []hpa.Reading{{Values: []int64{20_000_000}}},
		}, 5},
		{"items are summed", average, hpa.Observed{
			Replicas: 1, Existing: 1, Readings: []hpa.Reading{{Values: []int64{6_000_000, 6_000_000}}},
		}, 3},
		{"a negative item counts as an overflow", average, observed(1, -1), math.MaxInt32},
		{"a Value multiplies what is ready", value, observed(3, 8_000_000), 6},
		{"so a total with a Value compounds: with the same demand it doubles again", value, observed(6, 8_000_000), 12},
		{"a Value of nothing ready asks for nothing", value, hpa.Observed{
			Replicas: 3, Existing: 3, Pods: 3, Readings: []hpa.Reading{{Values: []int64{8_000_000}}},
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.spec.Propose(&test.spec.Metrics[0], &test.see, test.see.Readings[0])
			if got.Err != nil || got.Replicas != test.want {
				t.Errorf("%d replicas, %v; want %d", got.Replicas, got.Err, test.want)
			}
		})
	}
}

// A recorded scaling counts like one of this controller: 4 pods took 2 replicas to 6, so that a seventh waits 15 s.
func TestRecordScaling(t *testing.T) {
	s := spec()
	s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	seen := newController(t, s)
	if out := seen.Sync(noon(), observed(2, 28_000_000)); out.Replicas != 6 {
		t.Fatalf("%d replicas, want 6", out.Replicas)
	}
	recorded := newController(t, s)
	recorded.RecordScaling(noon(), 2, 6)
	for _, later := range []struct {
		after time.Duration
		want  int32
	}{{10 * time.Second, 6}, {15 * time.Second, 7}} {
		for name, c := range map[string]*hpa.Controller{"seen": seen, "recorded": recorded} {
			if out := c.Sync(noon().Add(later.after), observed(6, 28_000_000)); out.Replicas != later.want {
				t.Errorf("%s, after %s: %d replicas, want %d", name, later.after, out.Replicas, later.want)
			}
		}
	}
	scaledDown := spec()
	scaledDown.Min, scaledDown.Cluster.ScaleToZero = 0, true
	c := newController(t, scaledDown)
	c.RecordScaling(noon(), 1, 0)
	if out := c.Sync(noon().Add(time.Minute), observed(0, 4_000_000)); out.Replicas != 1 {
		t.Errorf("after a recorded scaling to zero: %d replicas, want 1", out.Replicas)
	}
}

func TestProposalOfNothing(t *testing.T) {
	s := spec()
	s.Metrics[0].Type = hpa.Value
	see := hpa.Observed{Replicas: 1}
	if p := s.Propose(&s.Metrics[0], &see, hpa.Reading{Values: []int64{1}}); !errors.Is(p.Err, hpa.ErrNoPods) {
		t.Errorf("no pods: %v", p.Err)
	}
	s.Metrics[0].Source = hpa.Object
	if p := s.Propose(&s.Metrics[0], &see, hpa.Reading{}); p.Err == nil {
		t.Error("an Object metric without a value is no error")
	}
}

// By default, the highest recommendation of the last five minutes applies.
func TestScaleDownWaits(t *testing.T) {
	c := newController(t, spec())
	if got := c.Sync(noon(), observed(2, 20_000_000)); got.Replicas != 4 || got.Limited != hpa.ScaleUpLimit {
		t.Errorf("%d replicas, %s; want a doubling", got.Replicas, got.Limited)
	}
	got := c.Sync(noon().Add(299*time.Second), observed(5, 4_000_000))
	if got.Replicas != 5 || got.Able != hpa.ScaleDownStabilized || got.Proposed != 1 {
		t.Errorf("%d replicas, %s, proposed %d; want 5 held", got.Replicas, got.Able, got.Proposed)
	}
	if got := c.Sync(noon().Add(301*time.Second), observed(5, 4_000_000)); got.Replicas != 1 {
		t.Errorf("%d replicas after the window, want 1", got.Replicas)
	}
}

// If a metric fails, the others may scale up, not down.
func TestSomeMetricsFail(t *testing.T) {
	s := spec()
	s.Metrics = append(s.Metrics, hpa.Metric{Name: "queue", Source: hpa.Object, Type: hpa.AverageValue, Target: 1000})
	down := errors.New("503")
	see := observed(5, 40_000_000)
	see.Readings = append(see.Readings, hpa.Reading{Err: down})
	got := newController(t, s).Sync(noon(), see)
	if got.Replicas != 10 || got.Metric != 0 || !errors.Is(got.Err, down) ||
		!strings.Contains(got.Err.Error(), "queue") {
		t.Errorf("up: %d replicas by metric %d, %v", got.Replicas, got.Metric, got.Err)
	}
	see.Readings[0].Values[0] = 4_000_000
	got = newController(t, s).Sync(noon(), see)
	if got.Replicas != 5 || got.Active != hpa.FailedGetMetric || got.Metric != -1 {
		t.Errorf("down: %d replicas, %s; want 5 kept", got.Replicas, got.Active)
	}
	got = newController(t, s).Sync(noon(), observed(5))
	if got.Replicas != 5 || got.Err == nil {
		t.Errorf("no reading at all: %d replicas, %v", got.Replicas, got.Err)
	}
}

// Only an HPA that scaled to zero itself scales up from zero.
func TestFromZero(t *testing.T) {
	s := spec()
	s.Min, s.Cluster.ScaleToZero, s.Cluster.DownscaleStabilization = 0, true, 0
	c := newController(t, s)
	if got := c.Sync(noon(), observed(0, 8_000_000)); got.Replicas != 0 || got.Active != hpa.ScalingDisabled {
		t.Errorf("switched off by hand: %d replicas, %s", got.Replicas, got.Active)
	}
	if got := c.Sync(noon().Add(time.Minute), observed(2, 0)); got.Replicas != 0 {
		t.Errorf("no demand: %d replicas", got.Replicas)
	}
	if got := c.Sync(noon().Add(2*time.Minute), observed(0, 8_000_000)); got.Replicas != 2 {
		t.Errorf("demand again: %d replicas, want 2", got.Replicas)
	}
}

// A second metric must be 0 while nothing is served, or it keeps a replica. At zero it may fail, as a metric of pods does: the other one
// still wakes the workload.
func TestASecondMetricAtZero(t *testing.T) {
	s := spec()
	s.Min, s.Cluster.ScaleToZero, s.Cluster.DownscaleStabilization = 0, true, 0
	second := hpa.Metric{Name: "second", Source: hpa.External, Type: hpa.AverageValue, Target: 1000}
	s.Metrics = append(s.Metrics, second)
	c := newController(t, s)
	for i, step := range []struct {
		replicas      int32
		first, second int64 // −1 is a failed reading.
		want          int32
	}{
		{2, 8_000_000, 0, 2},
		{2, 0, 1, 1},          // The second metric is a thousandth.
		{1, 0, -1, 1},         // It failed, so the HPA does not scale down.
		{1, 0, 0, 0},          // Both are 0.
		{0, 0, -1, 0},         // No pod reports the second metric.
		{0, 8_000_000, -1, 2}, // The first wakes the workload alone.
	} {
		see := observed(step.replicas, step.first)
		if step.second < 0 {
			see.Readings = append(see.Readings, hpa.Reading{Err: errors.New("no pods")})
		} else {
			see.Readings = append(see.Readings, hpa.Reading{Values: []int64{step.second}})
		}
		if got := c.Sync(noon().Add(time.Duration(i)*time.Minute), see); got.Replicas != step.want {
			t.Errorf("step %d: %d replicas, want %d", i, got.Replicas, step.want)
		}
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	bad := -0.1
	s := hpa.Spec{
		Min: 0, Max: -1,
		Metrics: []hpa.Metric{{Name: "m", Source: "Pods", Type: "Utilization"}},
		Behavior: &hpa.Behavior{
			Up: hpa.Rules{Stabilization: -1, Select: "Some", Tolerance: &bad},
			Down: hpa.Rules{
				Stabilization: 2 * time.Hour, Select: "Max",
				Policies: []hpa.ScalingPolicy{{Type: "Nodes", Value: 1, Period: time.Hour}},
			},
		},
		Cluster: hpa.Cluster{Tolerance: math.NaN(), DownscaleStabilization: -1},
	}
	_, err := hpa.New(s)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(strings.TrimPrefix(err.Error(), "hpa: "), "\n")
	want := []string{
		"minReplicas 0: expected at least 1 (0 needs the feature gate HPAScaleToZero)",
		"maxReplicas -1: expected at least 1 and at least minReplicas 0",
		`metric 0 (m): source "Pods": expected External or Object`,
		`metric 0 (m): target type "Utilization": expected AverageValue or Value`,
		"metric 0 (m): target 0m: expected more than 0",
		"the cluster's tolerance NaN: expected 0 or more",
		"the cluster's scale-down stabilization -1ns: expected 0 or more",
		"scaleUp: tolerance -0.1: expected 0 or more",
		`scaleUp: selectPolicy "Some": expected Max, Min or Disabled`,
		"scaleUp: no policy: expected at least one",
		"scaleDown: stabilizationWindowSeconds 7200: expected at most 3600",
		`scaleDown: policy type "Nodes": expected Pods or Percent`,
		"scaleDown: a policy with value 1 and periodSeconds 3600: expected a value above 0 and periodSeconds from 1 to 1800",
		"scaleUp: stabilizationWindowSeconds -1e-09: expected 0 or more",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if empty := (&hpa.Spec{Min: 1, Max: 1}).Validate(); empty == nil || !strings.Contains(empty.Error(), "no metric") {
		t.Errorf("without a metric: %v", empty)
	}
}

// BenchmarkSync measures one sync of an HPA with the default behavior, in a steady state.
func BenchmarkSync(b *testing.B) {
	s := spec()
	s.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	c, err := hpa.New(s)
	if err != nil {
		b.Fatal(err)
	}
	see, now := observed(5, 20_000_000), noon()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(15 * time.Second)
		see.Readings[0].Values[0] ^= 16_000_000
		out := c.Sync(now, see)
		see.Replicas, see.Existing = out.Replicas, out.Replicas
	}
}

// Skipping syncs that repeat a proposal changes no replicas.
func TestRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	skipped, held := 0, 0
	for range 300 {
		spec := hpa.Spec{
			Min: 1, Max: 1 + rng.Int32N(30), Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Name: "m", Source: hpa.External, Type: hpa.AverageValue, Target: 1000}},
		}
		if rng.IntN(2) == 0 {
			spec.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
			spec.Behavior.Down.Stabilization = time.Duration(rng.IntN(3)) * time.Minute
			spec.Behavior.Up.Stabilization = time.Duration(rng.IntN(2)) * time.Minute
		}
		plain, quick := controller(t, spec), controller(t, spec)
		replicas, value, at := int32(1), int64(1000), time.Unix(1e9, 0)
		for range 200 {
			at = at.Add(15 * time.Second)
			if rng.IntN(3) == 0 {
				value = rng.Int64N(20_000)
			}
			value = max(0, value+rng.Int64N(3)-1) // Mostly the same proposal.
			o := hpa.Observed{
				Replicas: replicas, Existing: replicas, Pods: replicas, Ready: replicas,
				Readings: []hpa.Reading{{Values: []int64{value}}},
			}
			want, got := plain.Sync(at, o), replicas
			if quick.Repeats(hpa.InstantOf(at), &o, value) {
				skipped++
				if want.Proposed != want.Stabilized {
					held++
				}
			} else {
				got = quick.Sync(at, o).Replicas
			}
			if got != want.Replicas {
				t.Fatalf("%d replicas, want %d", got, want.Replicas)
			}
			replicas = got
		}
	}
	if skipped < 1000 || held < 1000 {
		t.Errorf("%d syncs skipped, %d of them stabilized: expected at least 1000 of each", skipped, held)
	}
}

// SyncValue returns the replicas that Sync returns.
func TestSyncValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		spec := hpa.Spec{
			Min: rng.Int32N(2), Max: 1 + rng.Int32N(30), Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{
				Name: "m", Target: 1000,
				Source: []hpa.MetricType{hpa.External, hpa.Object}[rng.IntN(2)],
				Type:   []hpa.TargetType{hpa.AverageValue, hpa.Value}[rng.IntN(2)],
			}},
		}
		spec.Cluster.ScaleToZero = true
		if rng.IntN(2) == 0 {
			spec.Behavior = &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
			spec.Behavior.Up.Stabilization = time.Duration(rng.IntN(2)) * time.Minute
		}
		plain, quick := controller(t, spec), controller(t, spec)
		replicas, at := rng.Int32N(40), time.Unix(1e9, 0)
		for range 200 {
			at = at.Add(15 * time.Second)
			o := hpa.Observed{Replicas: replicas, Existing: replicas, Pods: replicas, Ready: rng.Int32N(replicas + 1)}
			value := rng.Int64N(20_000) - 1000
			switch rng.IntN(4) {
			case 0:
				value = 0
			case 1:
				value = int64(replicas) * (950 + rng.Int64N(100)) // Within the tolerance.
			}
			got := quick.SyncValue(hpa.InstantOf(at), &o, value)
			o.Readings = []hpa.Reading{{Values: []int64{value}}}
			if want := plain.Sync(at, o).Replicas; got != want {
				t.Fatalf("%d replicas, want %d: %+v", got, want, spec)
			}
			if replicas = got; rng.IntN(50) == 0 {
				replicas = rng.Int32N(40) // A manual scaling.
			}
		}
	}
}

func controller(t *testing.T, spec hpa.Spec) *hpa.Controller {
	t.Helper()
	c, err := hpa.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

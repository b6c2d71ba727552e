package decide_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

func TestZeroBelow(t *testing.T) {
	with := func(milli int64) decide.Autoscaler {
		return decide.Autoscaler{HPA: hpa.Spec{Metrics: []hpa.Metric{{Target: milli}}}}
	}
	if got := decide.ZeroBelow([]decide.Autoscaler{with(64_000), with(40_000)}); got != 4 {
		t.Errorf("the smallest target is 40: %v", got)
	}
	if got := decide.ZeroBelow(nil); got != 0 {
		t.Errorf("without an autoscaler: %v", got)
	}
}

// What is served, what KEDA's triggers read, and what a pause serves, for a workload that may scale to zero.
func TestApplyZero(t *testing.T) {
	may := decide.Settings{ZeroBelow: 4}
	paused := decide.Pause{Capacity: 64, Target: 32}
	for _, c := range []struct {
		name     string
		settings decide.Settings
		before   decide.Decision
		asleep   bool
		// value is served, trigger is what KEDA reads, would is what shadow mode would serve, pause is served in a pause.
		value, trigger, would, pause float64
	}{
		{"asleep", may, decide.Decision{Value: 3}, true, 0, 3, 0, 0.001},
		{"awake", may, decide.Decision{Value: 3}, false, 3, 3, 0, 0.001},
		{"awake at nothing", may, decide.Decision{}, false, 0.001, 0, 0, 0.001},
		{"asleep at nothing", may, decide.Decision{}, true, 0, 0, 0, 0.001},
		{"in shadow mode", may, decide.Decision{Shadow: true, WouldServe: 3, Value: 2}, true, 2, 2, 0, 0.001},
		{"it may not", decide.Settings{}, decide.Decision{Value: 3}, true, 3, 3, 0, 0},
		{"without a value", may, decide.Decision{Value: math.NaN()}, true, math.NaN(), math.NaN(), 0, math.NaN()},
	} {
		d := c.before
		d.ApplyZero(c.settings, c.asleep)
		again := d
		again.ApplyZero(c.settings, !c.asleep)
		if !same(d.Value, c.value) || !same(d.WithoutZero(), c.trigger) || d.WouldServe != c.would ||
			!same(again.Value, d.Value) {
			t.Errorf("%s: %+v, KEDA reads %v, a second time %v", c.name, d, d.WithoutZero(), again.Value)
		}
		if math.IsNaN(c.pause) {
			continue
		}
		if p := paused.Apply(d, 0); p.Value != c.pause || p.WithoutZero() != 0 {
			t.Errorf("%s: a pause serves %v, KEDA reads %v", c.name, p.Value, p.WithoutZero())
		}
		awake := d
		awake.KeepAwake()
		if awake.Zero.Asleep || awake.Zero.Applies && !awake.Shadow && awake.Value < 0.001 {
			t.Errorf("%s: kept awake, it is %+v", c.name, awake)
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestExpectsDemand(t *testing.T) {
	settings := decide.Settings{Target: 40, ZeroBelow: 4}
	for _, c := range []struct {
		of   decide.Decision
		want bool
	}{
		{decide.Decision{Value: 5}, true},
		{decide.Decision{Value: 3}, false},
		{decide.Decision{Value: 3, Observed: 1}, true},
		{decide.Decision{Zero: decide.Zero{Applies: true, Awake: 5}}, true},
		{decide.Decision{Zero: decide.Zero{Applies: true, Asleep: true, Awake: 5}}, false},
		{decide.Decision{Shadow: true, WouldServe: 5}, true},
		{decide.Decision{Shadow: true, WouldServe: 3, Value: 9}, false},
	} {
		if got := c.of.ExpectsDemand(settings); got != c.want {
			t.Errorf("%+v: %t", c.of, got)
		}
	}
}

func TestReasonOfZero(t *testing.T) {
	d := decide.Decision{Value: 3}
	d.ApplyZero(decide.Settings{ZeroBelow: 4}, true)
	if got := d.Reason(); !strings.Contains(got, "0 is served instead of 3, because for a lead window nothing was") {
		t.Error(got)
	}
	never := decide.Decision{Value: 3, Zero: decide.Zero{Never: "ScaledObject/b has a minimum of at least 1"}}
	if got := never.Reason(); !strings.Contains(got, "does not apply, because ScaledObject/b has a minimum") {
		t.Error(got)
	}
	if never.Observed = 1; strings.Contains(never.Reason(), "idle") {
		t.Error("it matters only while nothing is observed: " + never.Reason())
	}
}

// What an autoscaler that may not scale to zero reads is the value without the rule.
func TestNeverZero(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		for _, shadow := range []bool{false, true} {
			d := decide.Decision{Value: 3, WouldServe: 3, Shadow: shadow}
			d.ApplyZero(decide.Settings{ZeroBelow: 4}, asleep)
			d.NeverZero("a reason")
			if d.Value != 3 || d.WouldServe != 3 || d.Zero != (decide.Zero{Never: "a reason"}) {
				t.Errorf("asleep %t, shadow %t: %+v", asleep, shadow, d)
			}
		}
	}
}

// The value is idle by the highest median of the inputs, and not while work needs a floor.
func TestIsIdle(t *testing.T) {
	settings := decide.Settings{Late: 0.01, Target: 40, ZeroBelow: 4}
	held := decide.Input{Peak: windowpeak.Peak{Spread: 20}}
	for _, c := range []struct {
		newest decide.Input
		want   bool
	}{
		{decide.Input{}, true},
		{decide.Input{Peak: windowpeak.Peak{Median: 5}}, false}, // The held input has the higher total, but a lower median.
		{decide.Input{Peak: windowpeak.Peak{Median: 3, Spread: 90}}, true},
		{decide.Input{Observed: 1}, false},
		{decide.Input{DeadlineFloor: 30}, false},
	} {
		d := decide.Decide(settings, 1, []decide.Input{held, c.newest})
		if got := d.IsIdle(settings); got != c.want {
			t.Errorf("%+v: %t, %+v", c.newest, got, d)
		}
	}
}

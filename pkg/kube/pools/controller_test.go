package pools_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

const (
	llama    = "members: [{forecast: llama}]\n"
	spec     = llama + `chunk: {podTemplate: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}}` + "\nmax: 8\n"
	enforced = spec + "mode: Enforce\n"
)

// expect fails where a condition does not say what it should: "True Reason", and a part of its message.
func expect(t *testing.T, s v1alpha1.WarmPoolStatus, kind, want, message string) {
	t.Helper()
	c := meta.FindStatusCondition(s.Conditions, kind)
	if c == nil {
		t.Errorf("no condition %s among %v", kind, s.Conditions)
		return
	}
	if got := string(c.Status) + " " + c.Reason; got != want || !strings.Contains(c.Message, message) {
		t.Errorf("%s is %s: %s; want %s: … %s …", kind, got, c.Message, want, message)
	}
}

func TestAPoolIsHeld(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", enforced)
	w.run(t, 1)
	s := w.status("h100")
	if w.places.held["h100"] != (pools.Desired{Base: 4}) {
		t.Fatalf("%v is held, want 6 replicas less the 2 there are: %+v", w.places.held, s)
	}
	if s.Wanted != 4 || s.Held != 4 || s.Ready != 0 || s.State != "Filling" || s.ObservedGeneration != 1 {
		t.Errorf("%+v", s)
	}
	if s.Memory == nil || s.Message == "" || s.LeadTime != "2m" || s.NodeLeadTime != "5m" {
		t.Errorf("%+v", s)
	}
	expect(t, s, v1alpha1.PoolConditionReady, "False Filling", "")
	expect(
		t,
		s,
		v1alpha1.PoolConditionActuated,
		"True Held",
		"4 chunks are requested through the actuator PlaceholderPods",
	)
	expect(t, s, v1alpha1.PoolConditionMembersResolved, "True Resolved", "1 member")
	expect(t, s, v1alpha1.PoolConditionForecastsReliable, "True Reliable", "")
	if meta.FindStatusCondition(s.Conditions, v1alpha1.PoolConditionWithinBudget) != nil {
		t.Error("there is no budget")
	}
	w.places.ready = 8
	w.run(t, 4)
	s = w.status("h100")
	if s.Ready != 4 || s.State != "Ready" || w.stored.marked != 1 {
		t.Errorf("%+v, marked %d times", s, w.stored.marked)
	}
	expect(t, s, v1alpha1.PoolConditionReady, "True Ready", "")
	// Two replicas more have places: that is what the pool was for.
	w.loads["llama"].placed = 4
	w.run(t, 40)
	if w.places.held["h100"] != (pools.Desired{Base: 2}) || !slices.Contains(w.told, "Normal Resized") {
		t.Errorf("%v, %v", w.places.held, w.told)
	}
	if len(w.problems) > 0 {
		t.Error(w.problems)
	}
}

// TestWhatTheSchedulerDoesNotPreemptIsYielded: two of the replicas wait, and the pool has four chunks of which three are
// ready. It gives up the one that is not, and two.
func TestWhatTheSchedulerDoesNotPreemptIsYielded(t *testing.T) {
	const claim = "resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}], "
	for about, c := range map[string]struct {
		claims, resources, more string
		want                    pools.Desired
	}{
		"whole GPUs, which are preempted": {"", "nvidia.com/gpu: 1", "", pools.Desired{Base: 4}},
		"claims":                          {claim, "cpu: 1", "", pools.Desired{Base: 1}},
		"a claim that exists without them": {
			strings.Replace(claim, "Template", "", 1), "cpu: 1", "", pools.Desired{Base: 4},
		},
		"HAMi":  {"", "nvidia.com/gpu: 1, nvidia.com/gpumem: 7800", "", pools.Desired{Base: 1}},
		"vCUDA": {"", "tencent.com/vcuda-core: 30, tencent.com/vcuda-memory: 96", "", pools.Desired{Base: 1}},
		"scale": {claim, "cpu: 1", "actuator: {scale: {targetRef: {kind: Deployment, name: d}}}\n", pools.Desired{Base: 4}},
	} {
		t.Run(about, func(t *testing.T) {
			w := newWorld()
			template := "{spec: {" + c.claims + "containers: [{name: c, resources: {limits: {" + c.resources + "}}}]}}"
			w.stored.put(t, "h100", llama+"chunk: {podTemplate: "+template+`, gpuEquivalent: "0.25"}`+
				"\nmin: 4\nmax: 4\nmode: Enforce\n"+c.more)
			w.run(t, 1)
			w.places.ready = 3
			w.run(t, 1)
			w.loads["llama"].waiting = 2
			w.run(t, 1)
			if got := w.places.held["h100"]; got != c.want {
				t.Errorf("%+v is held, want %+v", got, c.want)
			}
			w.loads["llama"].placed, w.loads["llama"].waiting = 4, 0
			w.run(t, 1)
			if got := w.places.held["h100"]; got != (pools.Desired{Base: 4}) {
				t.Errorf("no pod waits, and %+v is held", got)
			}
			w.places.ready, w.loads["llama"].waiting = 4, 3
			w.run(t, 2)
			if got := w.places.held["h100"]; about != "scale" && got != (pools.Desired{Base: 1}) {
				t.Errorf("three wait for long although the pool is full, and %+v is held", got)
			}
			w.run(t, int(3*time.Minute/step))
			if got := w.places.held["h100"]; got != (pools.Desired{Base: 4}) {
				t.Errorf("three wait for something else, and %+v is held", got)
			}
		})
	}
}

func TestRecommendWritesNothingButTheStatus(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", spec)
	w.run(t, 8)
	s := w.status("h100")
	if s.Wanted != 4 || s.Held != 0 || s.State != "Recommending" || len(s.Covered) > 0 {
		t.Errorf("%+v", s)
	}
	expect(t, s, v1alpha1.PoolConditionReady, "False Recommending", "in mode Enforce it would hold 4 chunks")
	if w.places.holds+w.places.looks+w.places.releases+w.stored.marked > 0 {
		t.Errorf("%+v", w.places)
	}
}

func TestWhatIsHeldIsGivenBack(t *testing.T) {
	for _, c := range []struct {
		about string
		end   func(*testing.T, *world)
	}{
		{"by another mode", func(t *testing.T, w *world) { t.Helper(); w.stored.put(t, "h100", spec) }},
		{"by its deletion", func(_ *testing.T, w *world) { w.stored.remove("h100") }},
	} {
		t.Run(c.about, func(t *testing.T) {
			w := newWorld()
			w.stored.put(t, "h100", enforced)
			w.run(t, 2)
			c.end(t, w)
			w.run(t, 1)
			left := w.stored.objects["h100"]
			if len(w.places.held) > 0 || w.places.releases != 1 || left != nil && len(left.GetFinalizers()) > 0 {
				t.Errorf("%+v", w.places)
			}
			if !slices.Contains(w.told, "Normal Released") {
				t.Error(w.told)
			}
			w.run(t, 4)
			if w.places.releases != 1 {
				t.Errorf("released %d times", w.places.releases)
			}
		})
	}
}

// TestWhatIsWrongWithMembers: a member that cannot be planned for is said, and what is held for it is not taken away.
func TestWhatIsWrongWithMembers(t *testing.T) {
	two := strings.Replace(enforced, llama, "members: [{forecast: llama}, {forecast: qwen}]\n", 1)
	for _, c := range []struct {
		about         string
		qwen          *load
		want, message string
	}{
		{"no Forecast", nil, "False ForecastNotFound", "qwen is not a Forecast in team"},
		{"no autoscaler", &load{none: true, demand: 5}, "False NoScalingTarget", "Forewarm does not know how much demand a replica sustains"},
		{"no count", &load{unknown: true, target: 1}, "False ReplicasUnknown", "qwen has replicas that Forewarm cannot count"},
	} {
		t.Run(c.about, func(t *testing.T) {
			w := newWorld()
			if c.qwen != nil {
				w.loads["qwen"] = c.qwen
			}
			w.stored.put(t, "h100", two+"fallback: 7\n")
			w.run(t, 2)
			expect(t, w.status("h100"), v1alpha1.PoolConditionMembersResolved, c.want, c.message)
			if w.places.held["h100"].Base != 7 {
				t.Errorf("%v is held, want the fallback", w.places.held)
			}
			if !slices.Contains(w.told, "Warning "+strings.Fields(c.want)[1]) {
				t.Error(w.told)
			}
		})
	}
}

func TestTheOlderPoolKeepsAMember(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "old", enforced)
	w.stored.put(t, "an-younger", enforced)
	w.run(t, 2)
	expect(t, w.status("old"), v1alpha1.PoolConditionMembersResolved, "True Resolved",
		"also a member of the newer pool an-younger")
	expect(t, w.status("an-younger"), v1alpha1.PoolConditionMembersResolved, "False MemberOfOlderPool",
		"the older pool old")
	if w.places.held["old"].Base != 4 || w.places.held["an-younger"].Base != 0 {
		t.Error(w.places.held)
	}
	w.stored.remove("old")
	w.run(t, 4)
	expect(t, w.status("an-younger"), v1alpha1.PoolConditionMembersResolved, "True Resolved", "1 member")
	if w.places.held["an-younger"].Base != 4 {
		t.Error(w.places.held)
	}
}

func TestAStaleForecastTakesNothingAway(t *testing.T) {
	w := newWorld()
	w.places.ready = 8
	w.stored.put(t, "h100", enforced+"fallback: 1\n")
	w.run(t, 4)
	w.stale = true
	w.run(t, 4)
	s := w.status("h100")
	if w.places.held["h100"].Base != 4 || s.State != "FallingBack" {
		t.Errorf("%v, %+v", w.places.held, s)
	}
	expect(t, s, v1alpha1.PoolConditionForecastsReliable, "False Unreliable", "llama is stale")
}

// TestANewLeaderGoesOn: what the old one remembered is in the status. The demand is gone, what was held for it is kept for
// as long as a node takes, by the leader.
func TestANewLeaderGoesOn(t *testing.T) {
	w := newWorld()
	w.places.ready = 8
	w.stored.put(t, "h100", enforced)
	w.run(t, 8)
	w.loads["llama"].demand = 10
	w.run(t, 4)
	if w.places.held["h100"].Base != 4 {
		t.Fatalf("%v is held a minute later", w.places.held)
	}
	w.lead()
	w.run(t, 4)
	if w.places.held["h100"].Base != 4 {
		t.Errorf("%v is held by the new leader", w.places.held)
	}
	w.run(t, 20)
	if w.places.held["h100"].Base != 0 {
		t.Errorf("%v is held when nothing asks for it any more", w.places.held)
	}
	if w.stored.marked != 1 || len(w.problems) > 0 {
		t.Errorf("marked %d times, %v", w.stored.marked, w.problems)
	}
}

// TestWritesArePaced: a quiet pool is written once a minute, for what is remembered; and what the watch has not seen yet
// does no harm.
func TestWritesArePaced(t *testing.T) {
	w := newWorld()
	w.places.ready = 8
	w.stored.put(t, "h100", enforced)
	w.run(t, 40)
	w.stored.writes = 0
	w.run(t, 240)
	if w.stored.writes > 130 || w.stored.writes < 30 {
		t.Errorf("%d writes in an hour", w.stored.writes)
	}
	if w.places.holds > 75 {
		t.Errorf("held %d times in 70 minutes", w.places.holds)
	}
}

func TestMembersAreCovered(t *testing.T) {
	w := newWorld()
	w.places.ready = 8
	w.stored.put(t, "h100", enforced)
	w.run(t, 80)
	s := w.status("h100")
	if len(s.Covered) != 1 || s.Covered[0].Forecast != "llama" {
		t.Fatalf("%+v", s)
	}
	since := s.Covered[0].Since
	w.run(t, 10)
	if s = w.status("h100"); len(s.Covered) != 1 || !s.Covered[0].Since.Equal(&since) {
		t.Errorf("%+v, want %v", s.Covered, since)
	}
	w.lead()
	w.run(t, 4)
	if s = w.status("h100"); len(s.Covered) != 1 || !s.Covered[0].Since.Equal(&since) {
		t.Errorf("with a new leader: %+v, want %v", s.Covered, since)
	}
	w.stored.put(t, "h100", spec)
	w.run(t, 2)
	if s = w.status("h100"); len(s.Covered) > 0 {
		t.Errorf("%+v", s.Covered)
	}
}

func TestAScaleIsRememberedUntilItIsGivenBack(t *testing.T) {
	w := newWorld()
	w.places.before = &v1alpha1.ScaleBefore{
		TargetRef: v1alpha1.TargetRef{Kind: "Deployment", Name: "asleep"},
		Replicas:  2,
	}
	w.stored.put(t, "h100", enforced+"actuator: {scale: {targetRef: {kind: Deployment, name: asleep}}}\n")
	w.run(t, 1)
	if diff := cmp.Diff(w.places.before, w.status("h100").ScaleBefore); diff != "" {
		t.Error(diff)
	}
	// The cluster cannot be read: what was there before is not forgotten.
	w.lead()
	w.places.blind = errors.New("down")
	w.run(t, 4)
	if w.status("h100").ScaleBefore == nil {
		t.Error("forgotten")
	}
	w.places.blind = nil
	w.stored.put(t, "h100", spec)
	w.places.before = nil
	w.run(t, 20)
	if w.status("h100").ScaleBefore != nil || w.places.releases != 1 {
		t.Errorf("%+v", w.status("h100"))
	}
}

func TestTwoCapacityTypes(t *testing.T) {
	w := newWorld()
	w.places.ready = 8
	w.stored.put(t, "h100", enforced+`capacityTypes:
- {name: on-demand, nodeSelector: {type: on-demand}}
- {name: spot, nodeSelector: {type: spot}}
`)
	w.run(t, 2)
	s := w.status("h100")
	if len(s.ByCapacityType) != 2 || s.ByCapacityType[0].Held+s.ByCapacityType[1].Held != 4 ||
		s.ByCapacityType[1].Name != "spot" {
		t.Errorf("%+v", s)
	}
}

func TestTheLongestLeadTimeCounts(t *testing.T) {
	part := func(lead time.Duration) leadtime.Estimate {
		return leadtime.Estimate{Lead: lead, Starts: 20, Known: true}
	}
	w := newWorld()
	w.loads["llama"].parts = leadtime.Estimates{Placed: part(time.Minute), Waited: part(4 * time.Minute)}
	w.loads["qwen"] = &load{target: 1, parts: leadtime.Estimates{Placed: part(90 * time.Second)}}
	w.stored.put(t, "h100", strings.Replace(spec, "{forecast: llama}", "{forecast: llama}, {forecast: qwen}", 1))
	w.run(t, 1)
	s := w.status("h100")
	if s.LeadTime != "1m30s" || s.NodeLeadTime != "3m" ||
		s.LeadTimeSource != "pod: p90 of 40 starts on existing nodes; node: p90 of 20 starts that waited for a new node, "+
			"minus the lead time of a pod" {
		t.Errorf("%+v", s)
	}
	w.stored.put(t, "h100", spec+"leadTime: {mode: Fixed, duration: 7m}\n")
	w.run(t, 1)
	if s = w.status("h100"); s.NodeLeadTime != "7m" || !strings.HasSuffix(s.LeadTimeSource, "node: fixed 7m") {
		t.Errorf("%+v", s)
	}
}

// TestNothingIsKnownAtTheStart: then nothing is done, and so nothing taken away.
func TestNothingIsKnownAtTheStart(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", enforced)
	if err := w.leader.Step(t.Context(), w.now); err != nil || w.stored.writes+w.places.holds > 0 {
		t.Errorf("%v, %+v", err, w.places)
	}
	w.stored.unread = errors.New("not yet")
	w.run(t, 1)
	if w.stored.writes+w.places.holds > 0 {
		t.Errorf("%+v", w.places)
	}
}

func TestHours(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 GPUh", 1e-9: "0 GPUh", 0.003: "0.0030 GPUh", 0.512: "0.51 GPUh", 1.25: "1.2 GPUh", 99.44: "99.4 GPUh", 250.6: "251 GPUh",
	} {
		if got := pools.FormatGPUHours(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
}

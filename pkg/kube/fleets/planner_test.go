package fleets_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/run"
)

func expect(t *testing.T, about, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%s: %s, want %s", about, got, want)
	}
}

// Ten GPUs are the members'. What is left is spare, and the status says the same as the store.
func TestSpareOfACount(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	member := pod("chat-1", "chat")
	member.Priority = 0
	w.cluster.pods = []*fleets.Pod{pod("e-1", "embeddings"), pod("e-2", "embeddings"), member, pod("x", "other")}
	w.step(t)
	if n, err := w.spare("embeddings"); n != 54 || err != nil {
		t.Errorf("%d replicas, %v", n, err)
	}
	got := w.status("h100")
	batch := v1alpha1.FleetBatchStatus{Name: "embeddings", Replicas: 54, Running: 2, Need: "10"}
	if got.GPUs != "64" || got.Members != "10" || got.Other != "0" || got.Batch[0] != batch {
		t.Errorf("%+v", got)
	}
	expect(t, "message", got.Message, "10 of 64 GPUs are kept for the members for the next 20m")
	for kind, want := range map[string]string{
		"Ready": "True Planned", "MembersResolved": "True Resolved: 1 member",
		"CapacityKnown": "True Counted: 64 GPUs by spec.gpus.count",
		"BatchSafe":     "True Safe", "Shortage": "False Enough",
	} {
		expect(t, kind, w.condition("h100", kind), want)
	}
	if _, err := w.spare("other"); err == nil {
		t.Error("an unknown consumer gets a number")
	}
}

// Cordoned nodes and nodes that are not ready do not count. Pods of others on the nodes do.
func TestSpareOfNodes(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", "gpus: {nodeSelector: {gpu: h100}}, "+chatOnly+", "+jobs)
	node := func(name, gpu string, usable bool) *fleets.Node {
		gpus := fleets.Amounts{"nvidia.com/gpu": 16}
		return &fleets.Node{Name: name, Labels: map[string]string{"gpu": gpu}, Usable: usable, Resources: gpus}
	}
	w.cluster.nodes = []*fleets.Node{
		node("a", "h100", true), node("b", "h100", true), node("c", "h100", false), node("d", "a100", true),
	}
	elsewhere, otherNode, twoGPUs := pod("x", "other"), pod("y", "other"), pod("e-1", "other")
	elsewhere.Namespace, otherNode.Node, twoGPUs.Requests["nvidia.com/gpu"] = "games", "c", 2
	sameNameElsewhere := pod("e", "embeddings")
	sameNameElsewhere.Namespace = "games"
	worker := pod("chat-worker", "chat")
	worker.Labels = map[string]string{"leaderworkerset.sigs.k8s.io/name": "chat"}
	w.cluster.pods = []*fleets.Pod{
		elsewhere, otherNode, twoGPUs, sameNameElsewhere, worker, pod("chat-1", "chat"), pod("e-1", "embeddings"),
	}
	w.step(t)
	got := w.status("h100")
	if got.GPUs != "32" || got.Other != "4" || got.Batch[0].Replicas != 18 || got.Batch[0].Running != 1 {
		t.Errorf("%+v", got)
	}
	expect(t, "capacity", w.condition("h100", "CapacityKnown"),
		"32 GPUs (nvidia.com/gpu) on 2 nodes; 1 node not counted: cordoned or not ready")
	w.cluster.nodes = nil
	w.step(t)
	expect(t, "no nodes", w.condition("h100", "CapacityKnown"),
		"False NoGPUs: 0 GPUs (nvidia.com/gpu) on 0 nodes: correct spec.gpus.nodeSelector")
	if n, err := w.spare("embeddings"); n != 0 || err != nil {
		t.Errorf("without nodes: %d replicas, %v", n, err)
	}
	w.cluster.problem = errors.New("Forewarm may not read nodes")
	w.step(t)
	expect(t, "no right", w.condition("h100", "CapacityKnown"), "False Unreadable: Forewarm may not read nodes")
	expect(t, "no right", w.condition("h100", "Ready"), "False NoPlan")
	if _, err := w.spare("embeddings"); err == nil {
		t.Error("a fleet of an unknown size serves a number")
	}
}

func TestSpareOfAQueue(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", "gpus: {clusterQueue: {name: gpu}}, "+chatOnly+", "+jobs)
	w.step(t)
	expect(t, "no queue", w.condition("h100", "CapacityKnown"),
		"False QueueNotFound: the ClusterQueue gpu does not exist")
	w.cluster.queue = &fleets.Queue{Name: "gpu", Quota: fleets.Amounts{"nvidia.com/gpu": 24}}
	w.step(t)
	if n, err := w.spare("embeddings"); n != 14 || err != nil {
		t.Errorf("%d replicas, %v", n, err)
	}
	w.loads["chat"].least = 30
	w.step(t)
	expect(t, "minimums", w.condition("h100", "CapacityKnown"), "False BelowMinimums: 24 GPUs (nvidia.com/gpu) by the "+
		"nominal quota of the ClusterQueue gpu, but the minimums of the members need 30 GPUs: lower minReplicas")
	if n, err := w.spare("embeddings"); n != 0 || err != nil {
		t.Errorf("below the minimums: %d replicas, %v", n, err)
	}
	w.put(t, "h100", "gpus: {count: 7}, members: [{forecast: chat, gpus: \"0.28\"}], "+jobs)
	w.loads["chat"].least = 25 // 25 × 0.28 is 7.000000000000001.
	w.step(t)
	expect(t, "exactly the minimums", w.condition("h100", "CapacityKnown"), "True Counted")
	w.put(t, "h100", "gpus: {clusterQueue: {name: gpu}}, "+chatOnly+", "+jobs)
	w.cluster.queue.Quota = nil
	w.step(t)
	expect(t, "no quota", w.condition("h100", "CapacityKnown"), "False NoGPUs")
}

// What is unknown about a member makes less spare.
func TestMembersThatAreUnknown(t *testing.T) {
	for name, tt := range map[string]struct {
		change          func(*load)
		resolved, ready string
		replicas        int
	}{
		"missing": {
			func(l *load) { l.absent = true },
			"False ForecastNotFound: chat is not a Forecast in ai", "False MembersUnknown", 0,
		},
		"no autoscaler": {
			func(l *load) { l.none = true }, "False NoScalingTarget: chat is not read by an", "False MembersUnknown", 0,
		},
		"uncounted": {func(l *load) { l.unknown = true }, "False ReplicasUnknown", "False MembersUnknown", 44},
		"a variant": {func(l *load) { l.variantUnknown = true }, "False ReplicasUnknown", "False MembersUnknown", 44},
		"new":       {func(l *load) { l.days = 1 }, "True Resolved", "chat has less than two days of history", 44},
		"unlimited": {func(l *load) { l.days, l.most = 1, 0 }, "True Resolved", "False MembersUnknown", 0},
	} {
		w := newWorld()
		w.put(t, "h100", simple)
		tt.change(w.loads["chat"])
		w.step(t)
		expect(t, name, w.condition("h100", "MembersResolved"), tt.resolved)
		expect(t, name, w.condition("h100", "Ready"), tt.ready)
		if n, err := w.spare("embeddings"); n != tt.replicas || err != nil {
			t.Errorf("%s: %d replicas, want %d, %v", name, n, tt.replicas, err)
		}
	}
}

// Both fleets keep GPUs for a member of two.
func TestMemberOfTwoFleets(t *testing.T) {
	w := newWorld()
	w.put(t, "old", simple)
	w.put(t, "h100", simple)
	w.step(t)
	expect(t, "old", w.condition("old", "MembersResolved"), "True Resolved")
	expect(t, "new", w.condition("h100", "MembersResolved"),
		"False MemberOfOlderFleet: chat is also a member of the older fleet old, so both keep GPUs for it")
	if n, err := w.spare("embeddings"); n != 54 || err != nil {
		t.Errorf("%d replicas in the newer fleet, want 54, %v", n, err)
	}
}

// A member whose pods request more than the fleet says, for example because gpus is missing, counts with what they request.
func TestMemberRequestsMore(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	large := pod("chat-3", "chat")
	large.Requests["nvidia.com/gpu"] = 4
	w.cluster.pods = []*fleets.Pod{pod("chat-2", "chat"), large}
	w.step(t)
	expect(t, "large", w.condition("h100", "MembersResolved"),
		"False MemberRequestsMore: chat: the pod chat-3 requests 4 GPUs, more than spec.members says: set gpus")
	if n, err := w.spare("embeddings"); n != 24 || err != nil {
		t.Errorf("%d replicas, want 24: chat has 10 replicas of 4 GPUs, %v", n, err)
	}
}

func TestUnsafeBatch(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*fleets.Pod)
		want    string
		refused bool
	}{
		"a Job": {func(*fleets.Pod) {}, "True Safe", false},
		"a Deployment": {
			func(p *fleets.Pod) { p.Controller = "ReplicaSet" },
			"False RunsCutShort: embeddings is refused: a ReplicaSet controls the pod e", true,
		},
		"a StatefulSet": {
			func(p *fleets.Pod) { p.Controller = "StatefulSet" }, "set terminationGracePeriodSeconds: 1200", true,
		},
		"a patient Deployment": {
			func(p *fleets.Pod) { p.Controller, p.Grace = "ReplicaSet", 20*time.Minute }, "True Safe", false,
		},
		"the members' priority": {
			func(p *fleets.Pod) { p.Priority = 100 },
			"False PriorityNotLower: embeddings: the pod e has the priority 100, which is not below 100", false,
		},
		"a large pod": {
			func(p *fleets.Pod) { p.Requests["nvidia.com/gpu"] = 8 },
			"False RequestsMore: embeddings: the pod e requests 8 GPUs, more than", false,
		},
		"no pod":     {func(p *fleets.Pod) { p.Labels = nil }, "Unknown NoBatchPods", false},
		"a held pod": {func(p *fleets.Pod) { p.Held = true }, "Unknown NoBatchPods", false},
	} {
		w := newWorld()
		w.put(t, "h100", simple)
		own, batch := pod("chat-1", "chat"), pod("e", "embeddings")
		own.Priority = 100
		tt.change(batch)
		w.cluster.pods = []*fleets.Pod{own, batch}
		w.step(t)
		expect(t, name, w.condition("h100", "BatchSafe"), tt.want)
		_, err := w.spare("embeddings")
		if refused := err != nil; refused != tt.refused {
			t.Errorf("%s: %v", name, err)
		}
		if tt.refused && w.status("h100").Other != "1" {
			t.Errorf("%s: the pods of a refused consumer do not count as others: %+v", name, w.status("h100"))
		}
	}
}

// Two consumers share what is left, and one that is refused leaves the other its share.
func TestConsumersShare(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", "gpus: {count: 64}, "+chatOnly+", batch: ["+
		"{name: a, selector: {matchLabels: {app: a}}, run: 20m, share: 2}, "+
		"{name: b, selector: {matchLabels: {app: b}}, run: 20m, gpus: 2}]")
	w.cluster.pods = []*fleets.Pod{pod("b-1", "b")}
	w.step(t)
	got := w.status("h100").Batch
	if got[0].Replicas != 36 || got[1].Replicas != 9 || got[1].Running != 1 {
		t.Errorf("%+v", got)
	}
	w.cluster.pods = []*fleets.Pod{pod("a-1", "a")}
	w.cluster.pods[0].Controller = "ReplicaSet"
	w.step(t)
	w.now = w.now.Add(time.Hour)
	w.step(t)
	if got = w.status("h100").Batch; got[0].Replicas != 0 || got[1].Replicas != 26 {
		t.Errorf("%+v", got)
	}
}

func TestInvalidFleet(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", "gpus: {count: 0}, "+chatOnly+", "+jobs)
	w.step(t)
	expect(t, "invalid", w.condition("h100", "Ready"), "False Invalid: spec.gpus: Invalid value")
	if _, err := w.spare("embeddings"); err == nil {
		t.Error("an invalid fleet serves a number")
	}
	if got := w.condition("h100", "CapacityKnown"); got != "none" {
		t.Errorf("an invalid fleet has %s", got)
	}
}

// Statuses are written when a condition changes, and else once a minute. Events tell of each change once.
func TestWritesAndEvents(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	w.step(t)
	w.loads["chat"].none = true
	w.step(t)
	w.step(t)
	w.loads["chat"].none = false
	w.step(t)
	want := []string{"Warning MembersUnknown", "Warning NoScalingTarget", "Normal Ready", "Normal MembersResolved"}
	if !slices.Equal(w.told, want) {
		t.Errorf("events %q, want %q", w.told, want)
	}
	w.loads["chat"].pods = append(w.loads["chat"].pods, "terminating", "new")
	w.step(t)
	if got := w.status("h100").Members; got != "10" {
		t.Errorf("a number was written within a minute: %s", got)
	}
	w.now = w.now.Add(time.Minute)
	w.step(t)
	if got := w.status("h100").Members; got != "12" {
		t.Errorf("members %s, want 12", got)
	}
}

// While pods have not been read, for example after a start, nothing is served, and the status stays as it is.
func TestNothingIsSaidBeforePodsAreRead(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	w.step(t)
	w.cluster.unread = fmt.Errorf("%w: pods", fleets.ErrUnread)
	w.step(t)
	if _, err := w.spare("embeddings"); err == nil {
		t.Error("a number is served")
	}
	expect(t, "before", w.condition("h100", "Ready"), "True Planned")
	w.cluster.unread = errors.New("Forewarm is not allowed to list pods")
	w.step(t)
	expect(t, "without the right", w.condition("h100", "CapacityKnown"),
		"False Unreadable: Forewarm is not allowed to list pods")
}

// A fleet that is gone is served no longer.
func TestFleetThatIsGone(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	w.step(t)
	delete(w.stored, "h100")
	w.step(t)
	if w.plans.Get(snapshot.Key{Namespace: "ai", Name: "h100"}) != nil {
		t.Error("it is still served")
	}
}

// Only the leader has metrics.
func TestMetrics(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	w.cluster.pods = []*fleets.Pod{pod("e", "embeddings")}
	w.step(t)
	ended, end := context.WithCancel(t.Context())
	end()
	follower := fleets.NewStatusWriter(w.planner, w.stored, quiet())
	before := testutil.CollectAndCount(follower)
	follower.Run(ended, run.WallClock{})
	if after := testutil.CollectAndCount(follower); before != 0 || after != 0 {
		t.Errorf("%d and %d metrics of a replica that does not lead", before, after)
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.statuses)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetGauge().GetValue()
		}
	}
	want := map[string]float64{
		"forewarm_fleet_gpus": 64, "forewarm_fleet_member_gpus": 10, "forewarm_fleet_other_gpus": 0,
		"forewarm_fleet_spare_replicas": 54, "forewarm_fleet_running_replicas": 1, "forewarm_fleet_shortage_gpus": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A shortage is a condition and an event. It is no problem of the fleet.
func TestShortage(t *testing.T) {
	w := newWorld()
	w.put(t, "h100", simple)
	w.loads["chat"].demand, w.loads["chat"].most = 80, 100
	w.step(t)
	w.step(t)
	expect(t, "shortage", w.condition("h100", "Shortage"), "True ShortageAhead: ")
	expect(t, "shortage", w.condition("h100", "Shortage"), "16 more than")
	expect(t, "ready", w.condition("h100", "Ready"), "True Planned")
	w.loads["chat"].demand = 10
	w.now = w.now.Add(time.Minute) // The day ahead is computed once a minute.
	w.step(t)
	expect(t, "later", w.condition("h100", "Shortage"), "False Enough")
	if want := []string{"Warning ShortageAhead", "Normal Shortage"}; !slices.Equal(w.told, want) {
		t.Errorf("events %q, want %q", w.told, want)
	}
}

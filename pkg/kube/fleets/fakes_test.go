package fleets_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/fleets"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

func noon() time.Time { return time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stored are fleets as an API server keeps them.
type stored map[string]*unstructured.Unstructured

func (stored) Check() error { return nil }

func (s stored) List() (out []*fleets.Fleet) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		out = append(out, fleets.ReadFleet(s[name]))
	}
	return out
}

func (s stored) Oldest(key snapshot.Key) *fleets.Fleet {
	var found []*fleets.Fleet
	for _, f := range s.List() {
		for _, m := range f.Resolved.Members {
			if f.Problem == "" && m.Forecast == key.Name {
				found = append(found, f)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return slices.MinFunc(found, informer.CompareAge)
}

func (s stored) UpdateStatus(_ context.Context, f *fleets.Fleet, status *v1alpha1.GPUFleetStatus) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	object := s[f.Name].DeepCopy()
	object.Object["status"] = content
	s[f.Name] = object
	return err
}

// load is a member with a target of 1 and a constant demand.
type load struct {
	demand                float64
	pods                  []string
	least, most           int
	unknown, none, absent bool
	variantUnknown        bool
	days                  int
}

// cluster is what fleets are counted from.
type cluster struct {
	nodes   []*fleets.Node
	queue   *fleets.Queue
	pods    []*fleets.Pod
	problem error
	// unread is why pods are not known.
	unread error
}

func (*cluster) Follow(context.Context, map[string]bool) {}

func (c *cluster) Nodes() ([]*fleets.Node, error) { return c.nodes, c.problem }

func (c *cluster) Queue(name string) (*fleets.Queue, error) {
	if c.queue == nil || c.queue.Name != name {
		return nil, c.problem
	}
	return c.queue, c.problem
}

func (c *cluster) Pods(string) ([]*fleets.Pod, error) { return c.pods, c.unread }

// world is all that a Planner meets.
type world struct {
	stored    stored
	cluster   cluster
	loads     map[string]*load
	snapshots snapshot.Store
	plans     fleet.Store
	planner   *fleets.Planner
	statuses  *fleets.StatusWriter
	told      []string
	now       time.Time
}

// newWorld has a member chat that asked for 10 replicas at all times, of which all run.
func newWorld() *world {
	w := &world{
		stored: stored{}, loads: map[string]*load{"chat": {demand: 10, most: 20, days: 14}}, now: noon(),
	}
	for i := range 10 {
		w.loads["chat"].pods = append(w.loads["chat"].pods, fmt.Sprintf("chat-%d", i))
	}
	w.planner = fleets.NewPlanner(fleets.Dependencies{
		Fleets: w.stored, Snapshots: &w.snapshots, Workloads: w, Cluster: &w.cluster, Store: &w.plans,
	})
	w.statuses = fleets.NewStatusWriter(w.planner, w.stored, quiet())
	w.statuses.SetEvents(w)
	return w
}

// put creates a fleet, or changes its spec.
func (w *world) put(t *testing.T, name, spec string) {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte("{"+spec+"}"), &fields); err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": fields, "metadata": map[string]any{}}}
	object.SetNamespace("ai")
	object.SetName(name)
	object.SetUID(types.UID(name))
	object.SetGeneration(1)
	if before := w.stored[name]; before != nil {
		object.SetGeneration(before.GetGeneration() + 1)
		object.Object["status"] = before.Object["status"]
	}
	object.SetCreationTimestamp(metav1.NewTime(noon().Add(time.Duration(len(w.stored)) * time.Minute)))
	w.stored[name] = object
}

const (
	chatOnly = "members: [{forecast: chat}]"
	jobs     = "batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}]"
	simple   = "gpus: {count: 64}, " + chatOnly + ", " + jobs
)

// pod returns a pod of the namespace ai with a GPU, on a node a.
func pod(name, app string) *fleets.Pod {
	return &fleets.Pod{
		Namespace: "ai", Name: name, UID: name, Node: "a", Labels: map[string]string{"app": app},
		Requests: fleets.Amounts{"nvidia.com/gpu": 1}, Priority: -10, Grace: 30 * time.Second, Controller: "Job",
	}
}

// step plans, and writes the statuses.
func (w *world) step(t *testing.T) {
	t.Helper()
	entries := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for name, l := range w.loads {
		if l.absent {
			continue
		}
		from := w.now.Add(-time.Duration(l.days) * 24 * time.Hour).Truncate(time.Hour)
		peaks := forecast.Series{Step: 5 * time.Minute, Start: from}
		for at := peaks.Start; !at.After(w.now); at = at.Add(peaks.Step) {
			peaks.Values = append(peaks.Values, l.demand)
		}
		key := snapshot.Key{Namespace: "ai", Name: name}
		entries[key] = &snapshot.ForecastSnapshot{
			Key: key, State: snapshot.Ready, Model: "arima", SampleTime: w.now, StaleAt: w.now.Add(10 * time.Minute),
			Decision: decide.Decision{Value: l.demand}, ServedPeaks: peaks, Window: 5 * time.Minute,
			Workload: "LeaderWorkerSet/" + name,
		}
	}
	w.snapshots.Publish(snapshot.New(w.now, entries, 0, snapshot.LoopStats{}))
	w.planner.Step(t.Context(), w.now)
	if err := w.statuses.Step(t.Context(), w.now); err != nil {
		t.Error(err)
	}
	w.now = w.now.Add(fleets.Step)
}

// status returns the status of a fleet.
func (w *world) status(name string) v1alpha1.GPUFleetStatus {
	return fleets.ReadFleet(w.stored[name]).Status
}

// condition returns a condition of a fleet: "False NoPlan: message".
func (w *world) condition(name, kind string) string {
	for _, c := range w.status(name).Conditions {
		if c.Type == kind {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return "none"
}

// spare returns what a consumer of the fleet h100 may use.
func (w *world) spare(consumer string) (int, error) {
	state := w.plans.Get(snapshot.Key{Namespace: "ai", Name: "h100"})
	if state == nil {
		return 0, errors.New("no such fleet")
	}
	got, err := state.Spare(consumer, w.now)
	return got.Replicas, err
}

func (w *world) Replicas(key snapshot.Key) (placed, waiting int, known bool) {
	l := w.loads[key.Name]
	return len(l.pods), 0, !l.unknown
}

func (w *world) Pods(key snapshot.Key) (uids []string, known bool) {
	if l := w.loads[key.Name]; l != nil {
		return l.pods, !l.unknown && !l.variantUnknown
	}
	return nil, false
}

func (w *world) Autoscalers(key snapshot.Key) []decide.Autoscaler {
	l := w.loads[key.Name]
	if l.none {
		return nil
	}
	return []decide.Autoscaler{{Name: "hpa", HPA: hpa.Spec{
		Min: int32(max(l.least, 1)), Max: int32(l.most), Metrics: []hpa.Metric{{Target: 1000}},
	}}}
}

func (w *world) Event(about runtime.Object, kind, reason, _ string) {
	if f, ok := about.(*v1alpha1.GPUFleet); !ok || f.Kind != v1alpha1.GPUFleetKind || f.UID == "" {
		panic(fmt.Sprintf("an event about %v", about))
	}
	w.told = append(w.told, kind+" "+reason)
}

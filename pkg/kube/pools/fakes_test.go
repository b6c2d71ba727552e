package pools_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

const step = 15 * time.Second

func noon() time.Time { return time.Date(2026, time.October, 1, 12, 0, 0, 0, time.UTC) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stored are pools as an API server keeps them: what was read before a change is refused.
type stored struct {
	objects map[string]*unstructured.Unstructured
	version int
	// writes count those of statuses, marked those of marks; refuse is an error for all of them.
	writes, marked int
	refuse         error
	// unread says that the pools have not been read yet.
	unread error
}

func (s *stored) Check() error { return s.unread }

// put creates a pool, or changes its spec.
func (s *stored) put(tb testing.TB, name, spec string) {
	tb.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
		tb.Fatal(err)
	}
	object := s.objects[name]
	if object == nil {
		object = &unstructured.Unstructured{Object: map[string]any{}}
		object.SetNamespace("team")
		object.SetName(name)
		object.SetUID(types.UID(name))
		object.SetCreationTimestamp(metav1.NewTime(noon().Add(time.Duration(len(s.objects)) * time.Minute)))
	}
	object = object.DeepCopy()
	object.Object["spec"] = fields
	object.SetGeneration(object.GetGeneration() + 1)
	s.keep(object)
}

func (s *stored) keep(object *unstructured.Unstructured) {
	s.version++
	object.SetResourceVersion(strconv.Itoa(s.version))
	s.objects[object.GetName()] = object
}

// remove marks a pool as to be deleted; it goes when it has no finalizer.
func (s *stored) remove(name string) {
	object := s.objects[name].DeepCopy()
	now := metav1.NewTime(noon())
	object.SetDeletionTimestamp(&now)
	object.SetGeneration(object.GetGeneration() + 1)
	s.keep(object)
}

func (s *stored) List() []*pools.Pool {
	var out []*pools.Pool
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		out = append(out, pools.ReadPool(s.objects[name]))
	}
	return out
}

func (s *stored) current(p *pools.Pool) (*unstructured.Unstructured, error) {
	object := s.objects[p.Name]
	if s.refuse != nil {
		return nil, s.refuse
	}
	if object.GetResourceVersion() != p.ResourceVersion {
		return nil, apierrors.NewConflict(schema.GroupResource{Resource: "warmpools"}, p.Name, errors.New("changed"))
	}
	return object.DeepCopy(), nil
}

func (s *stored) UpdateStatus(_ context.Context, p *pools.Pool, status *v1alpha1.WarmPoolStatus) error {
	object, err := s.current(p)
	if err != nil {
		return err
	}
	s.writes++
	object.Object["status"], err = runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	s.keep(object)
	return err
}

func (s *stored) Mark(_ context.Context, p *pools.Pool, holds bool) (*pools.Pool, error) {
	object, err := s.current(p)
	if err != nil {
		return nil, err
	}
	s.marked++
	object.SetFinalizers(nil)
	object.SetAnnotations(nil)
	if holds {
		if p.Spec.Actuator != nil && p.Spec.Actuator.Scale != nil {
			object.SetFinalizers([]string{pools.Finalizer})
		}
		object.SetAnnotations(map[string]string{pools.HoldsAnnotation: "true"})
	}
	s.keep(object)
	if object.GetDeletionTimestamp() != nil && !holds {
		delete(s.objects, p.Name)
	}
	return pools.ReadPool(object), nil
}

// places holds chunks in memory. As many are ready as are let to be.
type places struct {
	held  map[string]pools.Desired
	ready int
	// fail is the answer to Hold, gone that to Release, blind that to Look.
	fail, gone, blind      error
	remark                 string
	holds, looks, releases int
	before                 *v1alpha1.ScaleBefore
}

func (a *places) Observe(_ context.Context, p *v1alpha1.WarmPool) (pools.Actual, error) {
	a.looks++
	if a.blind != nil {
		return pools.Actual{}, a.blind
	}
	return a.there(p), nil
}

func (a *places) there(p *v1alpha1.WarmPool) pools.Actual {
	want := a.held[p.Name]
	out := pools.Actual{Warning: a.remark, Before: a.before}
	if len(p.Spec.CapacityTypes) < 2 {
		out.Types = []pools.Count{{Held: int32(want.Base), Ready: int32(min(want.Base, a.ready))}}
		return out
	}
	out.Types = []pools.Count{
		{Name: p.Spec.CapacityTypes[0].Name, Held: int32(want.Base), Ready: int32(min(want.Base, a.ready))},
		{Name: p.Spec.CapacityTypes[1].Name, Held: int32(want.Tail), Ready: 0},
	}
	return out
}

func (a *places) Hold(_ context.Context, p *v1alpha1.WarmPool, want pools.Desired) (pools.Actual, error) {
	a.holds++
	if a.fail != nil {
		return pools.Actual{}, a.fail
	}
	a.held[p.Name] = want
	return a.there(p), nil
}

func (a *places) Release(_ context.Context, p *v1alpha1.WarmPool) error {
	a.releases++
	if a.gone != nil {
		return a.gone
	}
	delete(a.held, p.Name)
	return nil
}

// load is what is known of a member.
type load struct {
	demand, target  float64
	placed, waiting int
	unknown, none   bool
	parts           leadtime.Estimates
}

type loads map[string]*load

func (l loads) Replicas(key snapshot.Key) (placed, waiting int, known bool) {
	m := l[key.Name]
	return m.placed, m.waiting, !m.unknown
}

func (l loads) Starts(key snapshot.Key, _ time.Time) (leadtime.Estimates, bool) {
	m := l[key.Name]
	if m == nil {
		return leadtime.Estimates{}, false
	}
	return m.parts, m.parts.Placed.Known
}

func (l loads) Autoscalers(key snapshot.Key) []decide.Autoscaler {
	m := l[key.Name]
	if m.none {
		return nil
	}
	return []decide.Autoscaler{{Name: "hpa", HPA: hpa.Spec{
		Min: 1, Max: 50, Metrics: []hpa.Metric{{Target: int64(m.target * 1000)}},
	}}}
}

// told are events.
type told []string

func (e *told) Event(about runtime.Object, kind, reason, _ string) {
	pool, ok := about.(*v1alpha1.WarmPool)
	if !ok || pool.Kind != v1alpha1.WarmPoolKind || pool.UID == "" {
		panic(fmt.Sprintf("an event about %v", about))
	}
	*e = append(*e, kind+" "+reason)
}

// world is all that a controller meets.
type world struct {
	stored    stored
	places    places
	loads     loads
	snapshots snapshot.Store
	told      told
	now       time.Time
	leader    *pools.Controller
	stale     bool
	problems  []error
}

// newWorld has a member llama whose demand makes six replicas, two of which are there.
func newWorld() *world {
	w := &world{
		stored: stored{objects: map[string]*unstructured.Unstructured{}},
		places: places{held: map[string]pools.Desired{}},
		loads:  loads{"llama": {demand: 60, target: 10, placed: 2}},
		now:    noon(),
	}
	w.lead()
	return w
}

// lead begins a term.
func (w *world) lead() {
	w.leader = pools.NewController(pools.Config{Step: step}, pools.Dependencies{
		Pools: &w.stored, Snapshots: &w.snapshots, Workloads: w.loads, Actuator: &w.places,
	}, quiet())
	w.leader.SetEvents(&w.told)
}

// entry is a Forecast whose demand is sure to be that of its load.
func (w *world) entry(name string, l *load) *snapshot.ForecastSnapshot {
	return entryOf("team", name, l, w.now, w.stale)
}

func entryOf(namespace, name string, l *load, now time.Time, stale bool) *snapshot.ForecastSnapshot {
	var q windowpeak.Quantiles
	for i := range q {
		q[i] = l.demand
	}
	e := &snapshot.ForecastSnapshot{
		Key: snapshot.Key{
			Namespace: namespace,
			Name:      name,
		},
		State:      snapshot.Ready,
		Model:      "arima",
		PathModel:  "arima",
		Lead:       2 * time.Minute,
		SampleTime: now,
		StaleAt:    now.Add(10 * time.Minute),
		Observed:   l.demand,
		Skill:      0.2,
		Coverage:   math.NaN(),
		Decision:   decide.Decision{Value: l.demand},
		Candidates: []snapshot.Candidate{{Name: "arima", Windows: []windowpeak.Window{
			{Horizon: time.Minute, Quantiles: q}, {Horizon: time.Hour, Quantiles: q},
		}}},
		Recent: forecast.Series{
			Start:  now.Add(-time.Hour),
			Step:   10 * time.Minute,
			Values: slices.Repeat([]float64{l.demand}, 6),
		},
	}
	if stale {
		e.State = snapshot.Stale
	}
	return e
}

// publish publishes the forecasts of now.
func (w *world) publish() {
	entries := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for name, l := range w.loads {
		e := w.entry(name, l)
		entries[e.Key] = e
	}
	w.snapshots.Publish(snapshot.New(w.now, entries, 0, snapshot.LoopStats{}))
}

// run takes steps, one after the other in time.
func (w *world) run(t *testing.T, steps int) {
	t.Helper()
	for range steps {
		w.publish()
		if err := w.leader.Step(t.Context(), w.now); err != nil {
			w.problems = append(w.problems, err)
		}
		w.now = w.now.Add(step)
	}
}

// status is that of a pool.
func (w *world) status(name string) v1alpha1.WarmPoolStatus {
	return pools.ReadPool(w.stored.objects[name]).Status
}

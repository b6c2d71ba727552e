package forecasts_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/run"
)

// noon is when the stories begin.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// entry is a healthy one.
func entry(name string, at time.Time) *snapshot.ForecastSnapshot {
	return &snapshot.ForecastSnapshot{
		Key:        snapshot.Key{Namespace: "default", Name: name},
		Generation: 1,
		State:      snapshot.Ready,
		Conditions: []snapshot.Condition{
			{
				Type:    snapshot.ConditionReady,
				True:    true,
				Reason:  "Ready",
				Message: "serves arima, 12 s after the sample",
			},
			{Type: snapshot.ConditionUncalibrated, True: true, Reason: "NoOutcome", Message: "not yet"},
		},
		Unit:       "requests",
		Lead:       5 * time.Minute,
		LeadSource: "fallback 5m (no starts measured yet)",
		Window:     375 * time.Second,
		SampleTime: at.Add(-12 * time.Second),
		StaleAt:    at.Add(time.Minute),
		Observed:   123.456,
		Decision:   decide.Decision{Value: 2345.6},
		Model:      "arima",
		Choice:     snapshottest.Ready(snapshottest.Key(name)).Choice,
		Skill:      0.2,
		Coverage:   math.NaN(),
	}
}

func publish(snapshots *snapshot.Store, at time.Time, entries ...*snapshot.ForecastSnapshot) {
	all := map[snapshot.Key]*snapshot.ForecastSnapshot{}
	for _, e := range entries {
		all[e.Key] = e
	}
	snapshots.Publish(snapshot.New(at, all, 0, snapshot.LoopStats{}))
}

// stored is the status of an object in the cluster.
func stored(
	t *testing.T, client dynamic.ResourceInterface, name string,
) (status v1alpha1.ForecastStatus, version string) {
	t.Helper()
	object, err := client.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	forecast := v1alpha1.Forecast{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &forecast); err != nil {
		t.Fatal(err)
	}
	return forecast.Status, object.GetResourceVersion()
}

// scene is one Forecast, its watch and its writer.
type scene struct {
	*testing.T
	client    dynamic.ResourceInterface
	objects   *forecasts.Objects
	snapshots *snapshot.Store
	writer    *forecasts.StatusWriter
}

// step writes at a time what the entry says, and wants a number of writes. It waits for the watch to see them.
func (s *scene) step(at time.Time, e *snapshot.ForecastSnapshot, want int) {
	s.Helper()
	publish(s.snapshots, at, e)
	got, err := s.writer.Step(s.Context(), at)
	if err != nil || got != want {
		s.Errorf("%s: %d writes, %v; want %d", at.Format(time.TimeOnly), got, err, want)
	}
	s.settle()
}

// settle gives the watch time to see the newest write.
func (*scene) settle() { time.Sleep(200 * time.Millisecond) }

func testStatus(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	s := &scene{T: t, client: forecastsOf(t, c.Config), objects: watch(t, c.Config), snapshots: &snapshot.Store{}}
	s.writer = forecasts.NewStatusWriter(s.objects, s.snapshots, quiet())
	if n, err := s.writer.Step(t.Context(), noon()); n != 0 || err != nil {
		t.Errorf("before the first snapshot: %d writes, %v", n, err)
	}
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	expectTargets(t, s.objects, "a=x")

	s.step(noon(), entry("a", noon()), 1)
	first, version := stored(t, s.client, "a")
	want := v1alpha1.ForecastStatus{
		ObservedGeneration: 1,
		State:              "Ready",
		Observed:           "123.5",
		Served:             "2346",
		Unit:               "requests",
		Model:              "arima",
		ModelReason:        "arima is selected: it had a lower pinball loss than regression (0.0231 instead of 0.0283)",
		LeadTime:           "5m",
		LeadTimeSource:     "fallback 5m (no starts measured yet)",
		Window:             "6m15s",
		Skill:              "20%",
		SampleTime:         &metav1.Time{Time: noon().Add(-12 * time.Second)},
		Conditions: []metav1.Condition{
			{
				Type: "Ready", Status: "True", Reason: "Ready", Message: "serves arima, 12 s after the sample",
				ObservedGeneration: 1, LastTransitionTime: metav1.Time{Time: noon()},
			},
			{
				Type: "Uncalibrated", Status: "True", Reason: "NoOutcome", Message: "not yet",
				ObservedGeneration: 1, LastTransitionTime: metav1.Time{Time: noon()},
			},
		},
	}
	if diff := cmp.Diff(want, first, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}

	// Numbers move within the minute: not yet.
	early, later := noon().Add(59*time.Second), noon().Add(time.Minute)
	e := entry("a", early)
	e.Observed, e.Skill = 125, 0.21
	e.Conditions[0].Message = "serves arima, 14 s after the sample"
	s.step(early, e, 0)
	if _, now := stored(t, s.client, "a"); now != version {
		t.Error("the object changed without a write")
	}

	// They are written when it is over, the transition times stay.
	e = entry("a", later)
	e.Observed = 150
	s.step(later, e, 1)
	second, _ := stored(t, s.client, "a")
	if second.Observed != "150" ||
		!second.Conditions[0].LastTransitionTime.Equal(&first.Conditions[0].LastTransitionTime) {
		t.Errorf("observed %s, conditions %v", second.Observed, second.Conditions)
	}

	// It moves again ten seconds later: too soon. A condition is not; it takes its own transition time.
	soon := later.Add(10 * time.Second)
	e = entry("a", soon)
	e.Observed = 200
	s.step(soon, e, 0)
	e = entry("a", soon)
	e.State = snapshot.Stale
	e.Conditions = []snapshot.Condition{{Type: snapshot.ConditionReady, Reason: "Stale", Message: "the source is down"}}
	s.step(soon, e, 1)
	third, _ := stored(t, s.client, "a")
	wantConditions := []metav1.Condition{{
		Type: "Ready", Status: "False", Reason: "Stale", Message: "the source is down", ObservedGeneration: 1,
		LastTransitionTime: metav1.Time{Time: soon},
	}}
	if diff := cmp.Diff(wantConditions, third.Conditions, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
	if third.Served != "" || third.State != "Stale" {
		t.Errorf("stale, yet served %q in state %q", third.Served, third.State)
	}
	table := c.MustKubectl(t, "", "get", "fc", "a")
	if !strings.Contains(table, "Stale") || !strings.Contains(table, "123.5") || !strings.Contains(table, "arima") {
		t.Errorf("kubectl get fc:\n%s", table)
	}

	// Nothing but the age of the sample is news after five minutes. An older spec's entry is not written.
	e = entry("a", soon.Add(6*time.Minute))
	e.State = snapshot.Stale
	e.Conditions = []snapshot.Condition{{Type: snapshot.ConditionReady, Reason: "Stale", Message: "the source is down"}}
	s.step(soon.Add(6*time.Minute), e, 1)
	e.Generation = 2
	s.step(soon.Add(12*time.Minute), e, 0)

	// What somebody else wrote in between is not overwritten unseen, and put right at the next step.
	c.MustKubectl(t, "", "patch", "forecast", "a", "--subresource=status", "--type=merge", "-p", `{"status": null}`)
	s.settle()
	e.Generation = 1
	s.step(soon.Add(18*time.Minute), e, 1)

	// After a start less is known than what was written before. It is written if the whole history cannot be read.
	e = entry("a", soon.Add(24*time.Minute))
	e.Partial = true
	s.step(soon.Add(24*time.Minute), e, 0)
	e.PartialError = errors.New("too many samples")
	s.step(soon.Add(25*time.Minute), e, 1)
}

// paceOfMany writes the first status of three hundred objects: the burst at once, then ten a second.
func paceOfMany(t *testing.T, objects *forecasts.Objects, client dynamic.ResourceInterface) {
	t.Helper()
	snapshots := &snapshot.Store{}
	writer := forecasts.NewStatusWriter(objects, snapshots, quiet())
	var entries []*snapshot.ForecastSnapshot
	for _, target := range objects.List(noon()) {
		entries = append(entries, entry(target.Key.Name, noon()))
	}
	publish(snapshots, noon(), entries...)
	var writes []int
	for i := range 14 {
		n, err := writer.Step(t.Context(), noon().Add(time.Duration(i)*2*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, n)
	}
	want := []int{50, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 10}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Error(diff)
	}
	for _, e := range entries {
		if status, _ := stored(t, client, e.Key.Name); status.State != "Ready" {
			t.Fatalf("%s has no status", e.Key.Name)
		}
	}
}

// replica is one of two processes: its own network, snapshots and campaign.
type replica struct {
	name    string
	cut     atomic.Bool
	working atomic.Bool
	stop    func()
}

func (r *replica) RoundTrip(under http.RoundTripper, request *http.Request) (*http.Response, error) {
	if r.cut.Load() {
		return nil, errors.New("the network is cut")
	}
	return under.RoundTrip(request)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// start runs a replica whose statuses carry its name, as the model and in a condition, which makes it urgent.
func start(t *testing.T, c *apiservertest.Cluster, name string, both *atomic.Bool, other *replica) *replica {
	t.Helper()
	r := &replica{name: name}
	own := rest.CopyConfig(c.Config)
	own.Wrap(func(under http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) { return r.RoundTrip(under, request) })
	})
	leadership, err := forecasts.NewLeadership(own, forecasts.LeaseConfig{
		Namespace: "default", Name: "forewarm", Identity: name, Duration: 6 * time.Second,
	}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	snapshots := &snapshot.Store{}
	e := entry("a", noon())
	e.Model = name
	e.Conditions[0].Reason = "By" + name
	publish(snapshots, noon(), e)
	writer := forecasts.NewStatusWriter(watch(t, own), snapshots, quiet())
	r.stop = apiservertest.Background(t, func(ctx context.Context) error {
		return leadership.Run(ctx, func(ctx context.Context) {
			r.working.Store(true)
			defer r.working.Store(false)
			if other != nil && other.working.Load() {
				both.Store(true)
			}
			writer.Run(ctx, run.WallClock{})
		})
	})
	return r
}

// holder is the identity that the lease names now; none where it was given back.
func holder(t *testing.T, c *apiservertest.Cluster) string {
	t.Helper()
	return strings.TrimSpace(c.MustKubectl(t, "", "get", "lease", "forewarm", "-o", "jsonpath={.spec.holderIdentity}"))
}

// testLeadership runs two writers that disagree. The leader writes; cut off from the cluster it stops by itself and the
// other takes over; that one gives the lease back when it ends.
func testLeadership(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	client := forecastsOf(t, c.Config)
	writes := func(name string) {
		t.Helper()
		eventually(t, func() string {
			status, _ := stored(t, client, "a")
			return apiservertest.Differs("the status is by", status.Model, name)
		})
	}
	var both atomic.Bool
	one := start(t, c, "one", &both, nil)
	writes("one")
	two := start(t, c, "two", &both, one)
	time.Sleep(7 * time.Second) // Longer than the lease: one must have renewed it.
	if status, _ := stored(t, client, "a"); status.Model != "one" || two.working.Load() {
		t.Errorf("with one leading, the status is by %q; two works: %v", status.Model, two.working.Load())
	}

	one.cut.Store(true)
	writes("two")
	if both.Load() {
		t.Error("both worked at once")
	}
	if one.working.Load() {
		t.Error("one goes on working without its lease")
	}

	// The network comes back: one waits for its turn, and gets it as soon as two ends in order.
	one.cut.Store(false)
	two.stop()
	if holder := holder(t, c); holder == "two" {
		t.Error("two ended and kept the lease")
	}
	writes("one")
}

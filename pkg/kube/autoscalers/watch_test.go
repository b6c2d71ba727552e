package autoscalers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/manifest"
)

var (
	inflight      = snapshot.Key{Namespace: "default", Name: "inflight"}
	scaledObjects = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
)

// horizontal is an HPA that scales llama on an External metric.
func horizontal(t *testing.T, name, metric string, target int64) *autoscalingv2.HorizontalPodAutoscaler {
	t.Helper()
	object := &autoscalingv2.HorizontalPodAutoscaler{}
	must(t, yaml.UnmarshalStrict(fmt.Appendf(nil, hpaText, name, metric, target), object))
	return object
}

// scaled is a ScaledObject, b, that scales llama on the Forecast by a target of 16.
func scaled() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject",
		"metadata": map[string]any{"namespace": "default", "name": "b"},
		"spec": map[string]any{
			"scaleTargetRef": map[string]any{"name": "llama"},
			"triggers": []any{map[string]any{
				"type":     "external",
				"metadata": map[string]any{"scalerAddress": "x:9", "forecast": "inflight", "target": "16"},
			}},
		},
	}}
}

// clients are those of a cluster that is made up.
type clients struct {
	typed   *fake.Clientset
	objects *dynamicfake.FakeDynamicClient
}

func newClients() clients {
	return clients{fake.NewClientset(), dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{scaledObjects: "ScaledObjectList"})}
}

// create creates an HPA.
func (c clients) create(t *testing.T, name, metric string, target int64) {
	t.Helper()
	_, err := c.typed.AutoscalingV2().HorizontalPodAutoscalers("default").
		Create(t.Context(), horizontal(t, name, metric, target), metav1.CreateOptions{})
	must(t, err)
}

// scale creates the ScaledObject.
func (c clients) scale(t *testing.T) {
	t.Helper()
	_, err := c.objects.Resource(scaledObjects).Namespace("default").
		Create(t.Context(), scaled(), metav1.CreateOptions{})
	must(t, err)
}

// run runs a watch for as long as the test.
func run(t *testing.T, watch *autoscalers.Watch) {
	t.Helper()
	apiservertest.Background(t, func(ctx context.Context) error {
		watch.Run(ctx)
		return nil
	})
}

func (c clients) watch(t *testing.T, log *processtest.LogBuffer) *autoscalers.Watch {
	t.Helper()
	watch := autoscalers.FromClients(c.typed, c.objects, hurry(), slog.New(slog.NewTextHandler(log, nil)))
	run(t, watch)
	return watch
}

func hurry() autoscalers.Config { return autoscalers.Config{Retry: 50 * time.Millisecond} }

// eventually waits until a check is empty, which says what is still missing.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	apiservertest.Eventually(t, 10*time.Second, check)
}

// say writes references as name=target.
func say(references []manifest.Reference) string {
	var out []string
	for _, r := range references {
		text := r.Autoscaler + "!" + r.Refused
		if r.Refused == "" {
			text = fmt.Sprintf("%s=%d", r.Autoscaler, r.Spec.Metrics[0].Target/1000)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func expect(t *testing.T, watch *autoscalers.Watch, want string) {
	t.Helper()
	eventually(t, func() string { return apiservertest.Differs("references", say(watch.References(inflight)), want) })
}

// must fails the test where a call to a client did.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAutoscalersComeChangeAndGo(t *testing.T) {
	c := newClients()
	hpas := c.typed.AutoscalingV2().HorizontalPodAutoscalers("default")
	objects := c.objects.Resource(scaledObjects).Namespace("default")
	c.create(t, "early", "inflight", 64)
	watch := c.watch(t, &processtest.LogBuffer{})
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("the watch does not settle")
	}
	expect(t, watch, "HorizontalPodAutoscaler/early=64")

	c.scale(t)
	c.create(t, "another", "waiting", 8)
	expect(t, watch, "HorizontalPodAutoscaler/early=64 ScaledObject/b=16")
	if got := say(watch.References(snapshot.Key{Namespace: "elsewhere", Name: "inflight"})); got != "" {
		t.Errorf("another namespace's Forecast is read by %s", got)
	}

	_, err := hpas.Update(t.Context(), horizontal(t, "early", "inflight", 32), metav1.UpdateOptions{})
	must(t, err)
	_, err = hpas.Update(t.Context(), horizontal(t, "another", "inflight", 8), metav1.UpdateOptions{})
	must(t, err)
	expect(t, watch, "HorizontalPodAutoscaler/another=8 HorizontalPodAutoscaler/early=32 ScaledObject/b=16")
	if got := say(watch.References(snapshot.Key{Namespace: "default", Name: "waiting"})); got != "" {
		t.Errorf("what was named before is still read by %s", got)
	}

	must(t, objects.Delete(t.Context(), "b", metav1.DeleteOptions{}))
	must(t, hpas.Delete(t.Context(), "another", metav1.DeleteOptions{}))
	expect(t, watch, "HorizontalPodAutoscaler/early=32")
	if got := watch.Problem(); got != "" {
		t.Errorf("problem %q", got)
	}
}

// TestAStatusChangesNothing: the controller writes one every 15 s.
func TestAStatusChangesNothing(t *testing.T) {
	c := newClients()
	hpas := c.typed.AutoscalingV2().HorizontalPodAutoscalers("default")
	c.create(t, "a", "inflight", 64)
	watch := c.watch(t, &processtest.LogBuffer{})
	expect(t, watch, "HorizontalPodAutoscaler/a=64")
	before := watch.References(inflight)
	for i := range 50 {
		object := horizontal(t, "a", "inflight", 64)
		object.Status.CurrentReplicas, object.ResourceVersion = int32(i), strconv.Itoa(i)
		_, err := hpas.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
		must(t, err)
	}
	// One more that is seen when all before it were.
	c.create(t, "last", "waiting", 1)
	eventually(t, func() string {
		seen := watch.References(snapshot.Key{Namespace: "default", Name: "waiting"})
		return apiservertest.Differs("HPAs of another metric", len(seen), 1)
	})
	if after := watch.References(inflight); &after[0] != &before[0] {
		t.Errorf("the list was rebuilt: %s", say(after))
	}
}

// refuse lets a client fail as an error says, until there is none.
func refuse(client interface {
	PrependReactor(verb, kind string, reaction clienttesting.ReactionFunc)
}, kind string,
) *atomic.Pointer[error] {
	fault := &atomic.Pointer[error]{}
	client.PrependReactor("list", kind, func(clienttesting.Action) (bool, runtime.Object, error) {
		if err := fault.Load(); err != nil {
			return true, nil, *err
		}
		return false, nil, nil
	})
	return fault
}

func TestRightsThatAreMissing(t *testing.T) {
	c, log := newClients(), &processtest.LogBuffer{}
	kind := schema.GroupResource{Resource: "horizontalpodautoscalers"}
	forbidden := error(apierrors.NewForbidden(kind, "", errors.New("no")))
	fault := refuse(c.typed, "horizontalpodautoscalers")
	fault.Store(&forbidden)
	c.scale(t)
	c.create(t, "a", "inflight", 64)
	watch := c.watch(t, log)
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("a refusal does not settle the watch")
	}
	expect(t, watch, "ScaledObject/b=16")
	time.Sleep(300 * time.Millisecond) // Several attempts.
	if got := watch.Problem(); got != "Forewarm is not allowed to read HorizontalPodAutoscalers: apply deploy/default, or upgrade the chart" {
		t.Errorf("problem %q", got)
	}
	if lines := log.Lines(); len(lines) != 1 ||
		!strings.Contains(lines[0], "apply deploy/default, or upgrade the chart") {
		t.Errorf("the log says %q, want one line", lines)
	}
	fault.Store(nil)
	expect(t, watch, "HorizontalPodAutoscaler/a=64 ScaledObject/b=16")
	if got := watch.Problem(); got != "" {
		t.Errorf("problem %q after the rights came", got)
	}
}

// TestAKindThatIsNotThere: without KEDA there are no ScaledObjects, and nothing to say about it.
func TestAKindThatIsNotThere(t *testing.T) {
	c, log := newClients(), &processtest.LogBuffer{}
	missing := error(apierrors.NewNotFound(scaledObjects.GroupResource(), ""))
	fault := refuse(c.objects, "scaledobjects")
	fault.Store(&missing)
	watch := c.watch(t, log)
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("the watch does not settle without KEDA")
	}
	time.Sleep(200 * time.Millisecond)
	if got, lines := watch.Problem(), log.Lines(); got != "" || lines[0] != "" {
		t.Errorf("problem %q, log %q", got, lines)
	}
	c.scale(t)
	fault.Store(nil)
	expect(t, watch, "ScaledObject/b=16")
}

// TestWhatWentWhileNobodyWatched: the next list tells, and until then what is known stays known. The end of a watch alone is no
// problem.
func TestWhatWentWhileNobodyWatched(t *testing.T) {
	c, log := newClients(), &processtest.LogBuffer{}
	hpas := c.typed.AutoscalingV2().HorizontalPodAutoscalers("default")
	for _, name := range []string{"goes", "stays"} {
		c.create(t, name, "inflight", int64(len(name)))
	}
	deaf := make(chan *apiwatch.RaceFreeFakeWatcher, 100)
	var watches atomic.Int32
	react := func(clienttesting.Action) (bool, apiwatch.Interface, error) {
		if watches.Add(1) == 1 {
			return true, nil, errors.New("the first breaks")
		}
		w := apiwatch.NewRaceFreeFake()
		deaf <- w
		return true, w, nil
	}
	c.typed.PrependWatchReactor("horizontalpodautoscalers", react)
	fault := refuse(c.typed, "horizontalpodautoscalers")
	following := c.watch(t, log)
	const both = "HorizontalPodAutoscaler/goes=4 HorizontalPodAutoscaler/stays=5"
	expect(t, following, both)
	second := <-deaf
	must(t, hpas.Delete(t.Context(), "goes", metav1.DeleteOptions{}))
	away := errors.New("no route to host")
	fault.Store(&away)
	second.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
	expectProblem(t, following, "cannot read HorizontalPodAutoscalers, retrying")
	if lines := log.Lines(); len(lines) != 1 || !strings.Contains(lines[0], "no route to host") {
		t.Errorf("the log says %q, want that of the list alone", lines)
	}
	expect(t, following, both)
	fault.Store(nil)
	expect(t, following, "HorizontalPodAutoscaler/stays=5")
	if got := following.Problem(); got != "" {
		t.Errorf("problem %q", got)
	}
}

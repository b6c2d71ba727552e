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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/forewarm/forewarm/hack/logbuffer"
	"github.com/forewarm/forewarm/hack/testcluster"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/autoscalers"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

var (
	inflight      = snapshot.Key{Namespace: "default", Name: "inflight"}
	scaledObjects = schema.GroupVersionResource{Group: "keda.sh", Version: "v1alpha1", Resource: "scaledobjects"}
)

// horizontal is an HPA that scales llama on an External metric.
func horizontal(name, metric string, target int64) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{
				APIVersion: "apps/v1", Kind: "Deployment", Name: "llama",
			},
			MaxReplicas: 20,
			Metrics: []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ExternalMetricSourceType,
				External: &autoscalingv2.ExternalMetricSource{
					Metric: autoscalingv2.MetricIdentifier{Name: metric},
					Target: autoscalingv2.MetricTarget{
						Type:         autoscalingv2.AverageValueMetricType,
						AverageValue: resource.NewQuantity(target, resource.DecimalSI),
					},
				},
			}},
		},
	}
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

// run runs a watch for as long as the test.
func run(t *testing.T, watch *autoscalers.Watch) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		watch.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-over })
}

func (c clients) watch(t *testing.T, log *logbuffer.Buffer) *autoscalers.Watch {
	t.Helper()
	watch := autoscalers.FromClients(c.typed, c.objects, hurry(), slog.New(slog.NewTextHandler(log, nil)))
	run(t, watch)
	return watch
}

func hurry() autoscalers.Config { return autoscalers.Config{Retry: 50 * time.Millisecond} }

// eventually waits until a check is empty, which says what is still missing.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	testcluster.Eventually(t, 10*time.Second, check)
}

// say writes references as name=target.
func say(references []autoscaler.Reference) string {
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
	eventually(t, func() string {
		if got := say(watch.References(inflight)); got != want {
			return fmt.Sprintf("%q, want %q", got, want)
		}
		return ""
	})
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
	_, err := hpas.Create(t.Context(), horizontal("early", "inflight", 64), metav1.CreateOptions{})
	must(t, err)
	watch := c.watch(t, &logbuffer.Buffer{})
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("the watch does not settle")
	}
	expect(t, watch, "HorizontalPodAutoscaler/early=64")

	_, err = objects.Create(t.Context(), scaled(), metav1.CreateOptions{})
	must(t, err)
	_, err = hpas.Create(t.Context(), horizontal("another", "waiting", 8), metav1.CreateOptions{})
	must(t, err)
	expect(t, watch, "HorizontalPodAutoscaler/early=64 ScaledObject/b=16")
	if got := say(watch.References(snapshot.Key{Namespace: "elsewhere", Name: "inflight"})); got != "" {
		t.Errorf("another namespace's Forecast is read by %s", got)
	}

	_, err = hpas.Update(t.Context(), horizontal("early", "inflight", 32), metav1.UpdateOptions{})
	must(t, err)
	_, err = hpas.Update(t.Context(), horizontal("another", "inflight", 8), metav1.UpdateOptions{})
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
	_, err := hpas.Create(t.Context(), horizontal("a", "inflight", 64), metav1.CreateOptions{})
	must(t, err)
	watch := c.watch(t, &logbuffer.Buffer{})
	expect(t, watch, "HorizontalPodAutoscaler/a=64")
	before := watch.References(inflight)
	for i := range 50 {
		object := horizontal("a", "inflight", 64)
		object.Status.CurrentReplicas, object.ResourceVersion = int32(i), strconv.Itoa(i)
		_, err = hpas.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
		must(t, err)
	}
	// One more that is seen when all before it were.
	_, err = hpas.Create(t.Context(), horizontal("last", "waiting", 1), metav1.CreateOptions{})
	must(t, err)
	eventually(t, func() string {
		if len(watch.References(snapshot.Key{Namespace: "default", Name: "waiting"})) == 0 {
			return "the last one was not seen"
		}
		return ""
	})
	if after := watch.References(inflight); &after[0] != &before[0] {
		t.Errorf("the list was made anew: %s", say(after))
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
	c, log := newClients(), &logbuffer.Buffer{}
	forbidden := error(
		apierrors.NewForbidden(schema.GroupResource{Resource: "horizontalpodautoscalers"}, "", errors.New("no")),
	)
	fault := refuse(c.typed, "horizontalpodautoscalers")
	fault.Store(&forbidden)
	_, err := c.objects.Resource(scaledObjects).Namespace("default").
		Create(t.Context(), scaled(), metav1.CreateOptions{})
	must(t, err)
	_, err = c.typed.AutoscalingV2().HorizontalPodAutoscalers("default").
		Create(t.Context(), horizontal("a", "inflight", 64), metav1.CreateOptions{})
	must(t, err)
	watch := c.watch(t, log)
	if !watch.WaitForSync(t.Context(), 10*time.Second) {
		t.Fatal("a refusal does not settle the watch")
	}
	expect(t, watch, "ScaledObject/b=16")
	time.Sleep(300 * time.Millisecond) // Several attempts.
	if got := watch.Problem(); got != "cannot read HorizontalPodAutoscalers: apply deploy/default, or upgrade the chart" {
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
	c, log := newClients(), &logbuffer.Buffer{}
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
	_, err := c.objects.Resource(scaledObjects).Namespace("default").
		Create(t.Context(), scaled(), metav1.CreateOptions{})
	must(t, err)
	fault.Store(nil)
	expect(t, watch, "ScaledObject/b=16")
}

// TestWhatWentWhileNobodyWatched: the next list tells, and until then what is known stays known.
func TestWhatWentWhileNobodyWatched(t *testing.T) {
	c, log := newClients(), &logbuffer.Buffer{}
	hpas := c.typed.AutoscalingV2().HorizontalPodAutoscalers("default")
	for _, name := range []string{"goes", "stays"} {
		_, err := hpas.Create(t.Context(), horizontal(name, "inflight", int64(len(name))), metav1.CreateOptions{})
		must(t, err)
	}
	deaf := make(chan *apiwatch.RaceFreeFakeWatcher, 100)
	c.typed.PrependWatchReactor(
		"horizontalpodautoscalers",
		func(clienttesting.Action) (bool, apiwatch.Interface, error) {
			w := apiwatch.NewRaceFreeFake()
			deaf <- w
			return true, w, nil
		},
	)
	fault := refuse(c.typed, "horizontalpodautoscalers")
	following := c.watch(t, log)
	const both = "HorizontalPodAutoscaler/goes=4 HorizontalPodAutoscaler/stays=5"
	expect(t, following, both)
	must(t, hpas.Delete(t.Context(), "goes", metav1.DeleteOptions{}))
	away := errors.New("no route to host")
	fault.Store(&away)
	(<-deaf).Error(&apierrors.NewResourceExpired("too old").ErrStatus)
	eventually(t, func() string {
		if got := following.Problem(); got != "cannot read HorizontalPodAutoscalers, retrying" {
			return fmt.Sprintf("problem %q", got)
		}
		return ""
	})
	expect(t, following, both)
	fault.Store(nil)
	expect(t, following, "HorizontalPodAutoscaler/stays=5")
	if got := following.Problem(); got != "" {
		t.Errorf("problem %q", got)
	}
}

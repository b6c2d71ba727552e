package aggregation //nolint:testpackage // A watch with a client that is made up.

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/kube/changes"
)

var clusterRole = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": ownerVersion, "kind": ownerKind, "metadata": map[string]any{"name": role, "uid": "1234"},
}}

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// leading is an APIService that leads to forewarm-system/NAME.
func leading(version, group, name string, spec map[string]any) *unstructured.Unstructured {
	spec["group"], spec["version"] = group, version
	spec["service"] = map[string]any{"namespace": "forewarm-system", "name": name}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": version + "." + group}, "spec": spec,
	}}
}

// fastClock lets minutes pass in milliseconds.
type fastClock struct{ began time.Time }

func (c fastClock) Now() time.Time { return c.began.Add(3000 * time.Since(c.began)) }

func (c fastClock) WaitUntil(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(t.Sub(c.Now()) / 3000):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// constant is an authority that does not change.
type constant []byte

func (c constant) CurrentCABundleContent() []byte { return c }

func (constant) Subscribe(context.Context, changes.Signal) {}

// The leader writes its certificates into the APIServices that lead here and into no other; what is not verified stays so for
// five minutes; it creates the one that no one holds; a right that is missing is logged once, and the write is tried again.
func TestHold(t *testing.T) {
	const grace = 5 * time.Minute
	bundle := []byte("-----BEGIN CERTIFICATE-----")
	text := base64.StdEncoding.EncodeToString(bundle)
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{apiServices: "APIServiceList"},
		clusterRole,
		leading("v1beta1", External, "forewarm", map[string]any{insecure: true}),
		leading("v1beta2", Custom, "prometheus-adapter", map[string]any{}),
		leading("v1", "other.example", "forewarm", map[string]any{}))
	var mu sync.Mutex
	refusals, writes := 0, 0
	client.PrependReactor("*", "apiservices", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if !slices.Contains([]string{"patch", "create"}, action.GetVerb()) {
			return false, nil, nil
		}
		mu.Lock()
		defer mu.Unlock()
		writes++
		if refusals < 6 {
			refusals++
			return true, nil, apierrors.NewForbidden(apiServices.GroupResource(), Inspect, errors.New("no right"))
		}
		return false, nil, nil
	})
	log := &processtest.LogBuffer{}
	w := newGroups(client, "forewarm-system/forewarm", slog.New(slog.NewTextHandler(log, nil)))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	clock := fastClock{time.Now()}
	running.Go(func() {
		if problem := w.Run(ctx); problem != nil {
			t.Error(problem)
		}
	})
	running.Go(func() {
		w.Hold(ctx, clock, HoldConfig{
			Modes: map[string]Mode{
				External: Auto,
				Custom:   Auto,
				Inspect:  Auto,
			},
			Owner:     role,
			Port:      8443,
			Grace:     grace,
			Authority: constant(bundle),
		})
	})

	trusts := func(name string) (string, bool) {
		object, problem := client.Resource(apiServices).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(problem) {
			return "", false
		} else if problem != nil {
			t.Fatal(problem)
		}
		written, _, err1 := unstructured.NestedString(object.Object, "spec", caBundle)
		unverified, _, err2 := unstructured.NestedBool(object.Object, "spec", insecure)
		if problem = errors.Join(err1, err2); problem != nil {
			t.Fatal(problem)
		}
		return written, unverified
	}
	await := func(name string) time.Duration {
		for range 1000 {
			if written, unverified := trusts(name); written == text && !unverified {
				return clock.Now().Sub(clock.began)
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("%s is not verified; the log is %s", name, log)
		return 0
	}
	await("v1alpha1." + Inspect)
	if after := await("v1beta1." + External); after < grace {
		t.Errorf("what an older Forewarm left is verified after %s already", after)
	}
	for _, name := range []string{"v1beta2." + Custom, "v1.other.example"} {
		if written, _ := trusts(name); written != "" {
			t.Errorf("%s does not lead here, or is no group of Forewarm's, and got %s", name, written)
		}
	}
	// Once before the grace has passed, once after it: each time all that is refused, in one record.
	if said := strings.Count(log.String(), "level=ERROR"); said > 2 {
		t.Errorf("the refusals are logged %d times: %s", said, log)
	}
	made, err := client.Resource(apiServices).Get(ctx, "v1alpha1."+Inspect, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"group":                Inspect,
		"version":              "v1alpha1",
		"groupPriorityMinimum": int64(100),
		"versionPriority":      int64(100),
		caBundle:               text,
		"service":              map[string]any{"namespace": "forewarm-system", "name": "forewarm", "port": int64(8443)},
	}
	if diff := cmp.Diff(want, made.Object["spec"]); diff != "" {
		t.Errorf("what was created (-want +got):\n%s", diff)
	}
	if owners := made.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != clusterRole.GetUID() {
		t.Errorf("it belongs to %+v", owners)
	}
	mu.Lock()
	defer mu.Unlock()
	if writes > 20 {
		t.Errorf("%d writes", writes)
	}
}

// A group that another server held is free for ten minutes before it is taken: a server that is being installed again gets it back.
func TestVacancy(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{apiServices: "APIServiceList"})
	w := newGroups(client, ours, slog.New(slog.DiscardHandler))
	h := &holder{
		watch:       w,
		config:      HoldConfig{Modes: map[string]Mode{External: Auto}},
		heldByOther: map[string]bool{},
		vacated:     map[string]time.Time{},
	}
	start := time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)
	for _, s := range []struct {
		name    string
		minutes int
		held    string // by whom
		creates bool
	}{
		{"free from the beginning", 0, "", true},
		{"held", 1, "keda", false},
		{"held for long", 60, "keda", false},
		{"free since at most now", 61, "", false},
		{"free for nine minutes", 70, "", false},
		{"held again", 70, "keda", false},
		{"and free", 71, "", false},
		{"free for ten minutes", 81, "", true},
		{"held again", 90, "keda", false},
		{"Forewarm holds it", 91, "forewarm", false},
		{"and somebody deletes that", 92, "", true},
	} {
		change := w.watch.Delete
		if s.held != "" {
			change = w.watch.Add
		}
		if err := change(leading("v1beta1", External, s.held, map[string]any{})); err != nil {
			t.Fatal(err)
		}
		now := h.situation(start.Add(time.Duration(s.minutes) * time.Minute))
		acts, _ := decide(&now)
		if got := len(acts) == 1 && acts[0].verb == register; got != s.creates {
			t.Errorf("%s: %+v", s.name, acts)
		}
	}
}

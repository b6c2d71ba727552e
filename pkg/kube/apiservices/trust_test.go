package apiservices //nolint:testpackage // A watch with a client that is made up.

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/forewarm/forewarm/pkg/kube/changes"
)

var apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// apiService leads to forewarm-system/NAME.
func apiService(version, group, name string, spec map[string]any) *unstructured.Unstructured {
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

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// The leader writes its certificates into the APIServices that lead here and into no other; what is not verified stays so for
// five minutes; a right that is missing is said once, and the write is tried again.
func TestTrust(t *testing.T) {
	bundle := []byte("-----BEGIN CERTIFICATE-----")
	text := base64.StdEncoding.EncodeToString(bundle)
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{apiServices: "APIServiceList"},
		apiService("v1alpha1", Inspect, "forewarm", map[string]any{}),
		apiService("v1beta1", External, "forewarm", map[string]any{insecure: true}),
		apiService("v1beta2", Custom, "prometheus-adapter", map[string]any{}),
		apiService("v1", "other.example", "forewarm", map[string]any{}))
	var mu sync.Mutex
	refusals, patches := 0, 0
	client.PrependReactor("patch", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		patches++
		if refusals < 3 {
			refusals++
			return true, nil, apierrors.NewForbidden(apiServices.GroupResource(), Inspect, errors.New("no right"))
		}
		return false, nil, nil
	})
	log := &lockedBuffer{}
	w, err := newWatch(client, "forewarm-system/forewarm", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	clock := fastClock{time.Now()}
	running.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	running.Go(func() { w.Trust(ctx, clock, constant(bundle)) })

	trusts := func(name string) (string, bool) {
		object, problem := client.Resource(apiServices).Get(ctx, name, metav1.GetOptions{})
		if problem != nil {
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
	if after := await("v1beta1." + External); after < unverifiedGrace {
		t.Errorf("what an older Forewarm left is verified after %s already", after)
	}
	for _, name := range []string{"v1beta2." + Custom, "v1.other.example"} {
		if written, _ := trusts(name); written != "" {
			t.Errorf("%s does not lead here, or is no group of Forewarm's, and got %s", name, written)
		}
	}
	if said := strings.Count(log.String(), "apply deploy/rbac"); said != 1 {
		t.Errorf("three refusals are said %d times: %s", said, log)
	}
	mu.Lock()
	defer mu.Unlock()
	if patches > 10 {
		t.Errorf("%d patches", patches)
	}
}

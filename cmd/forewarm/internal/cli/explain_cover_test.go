package cli //nolint:testpackage // What is read for an explanation is nobody else's.

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clients "k8s.io/client-go/kubernetes/fake"

	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// pod was created so long before noon, and had a node so long after that; never where that is 0.
func pod(name string, ago, wait time.Duration) *corev1.Pod {
	created := noon().Add(-ago)
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:         "inference",
		Name:              name,
		CreationTimestamp: metav1.NewTime(created),
		Labels:            map[string]string{"app": "llama"},
	}}
	if wait > 0 {
		p.Spec.NodeName = "n1"
		p.Status.Conditions = []corev1.PodCondition{{
			Type:               corev1.PodScheduled,
			Status:             corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(created.Add(wait)),
		}}
	}
	return p
}

// coverPool stands ready for the Forecast llama since a time.
func coverPool(name string, status any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "forewarm.dev/v1alpha1", "kind": "WarmPool",
		"metadata": map[string]any{"namespace": "inference", "name": name}, "status": status,
	}}
}

func TestCovers(t *testing.T) {
	since := noon().Add(-3 * time.Hour)
	covering := map[string]any{"covered": []any{
		map[string]any{"forecast": "mistral", "since": "2026-11-20T08:00:00Z"},
		map[string]any{"forecast": "llama", "since": since.Format(time.RFC3339)},
	}}
	another := pod("another", time.Hour, time.Hour/2)
	another.Labels = map[string]string{"app": "mistral"}
	for _, c := range []struct {
		name  string
		rests string
		pools []runtime.Object
		want  *explain.Cover
	}{
		{
			"covered", "h100",
			[]runtime.Object{coverPool("a100", nil), coverPool("h100", covering)},
			&explain.Cover{Pool: "h100", Since: since, Starts: 4, Waited: 2, Waiting: 1},
		},
		{"no pool says so any more", "h100", []runtime.Object{coverPool("h100", nil)}, nil},
		{"a status that is none", "h100", []runtime.Object{coverPool("h100", map[string]any{"covered": "all"})}, nil},
		{"the lead time follows from no pool", "", []runtime.Object{coverPool("h100", covering)}, nil},
	} {
		kinds := map[schema.GroupVersionResource]string{warmPools(): "WarmPoolList"}
		r := &clusterReader{
			namespace: "inference",
			objects:   fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, c.pools...),
			clients: clients.NewClientset(another, pod("before", 4*time.Hour, time.Hour), pod("quick", time.Hour,
				5*time.Second), pod("slow", time.Hour, 4*time.Minute), pod("waits", time.Minute, 0), pod("new",
				5*time.Second, 0)),
		}
		f := &explain.Forecast{Name: "llama", LeadPool: c.rests}
		s := &autoscaler.Resolved{Input: explain.Input{
			Now: noon(), Target: "Deployment/llama", Metrics: []explain.Metric{{Forecast: f}, {}},
		}}
		r.readCovers(t.Context(), "app=llama", s)
		if diff := cmp.Diff(c.want, f.Cover); diff != "" || len(r.unknown) > 0 {
			t.Errorf("%s: %s%s", c.name, fmt.Sprint(r.unknown), diff)
		}
	}
}

package forecasts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// testRollback upgrades the CustomResourceDefinition, has a Forecast with a new field, and rolls the definition back. The API server
// deletes the field with the next write to the object, of whatever kind. The status says so, until the object is applied again.
func testRollback(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	const crd, path = "forecasts.forewarm.dev", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/"
	change := func(patch string) {
		t.Helper()
		c.MustKubectl(t, "", "patch", "crd", crd, "--type=json", "-p", patch)
	}
	upgrade := func() {
		change(`[{"op": "add", "path": "` + path + `maxPrice", "value": {"type": "string"}},
			{"op": "add", "path": "` + path + `leadTime/properties/newest", "value": {"type": "string"}}]`)
	}
	rollBack := func() {
		change(
			`[{"op": "remove", "path": "` + path + `maxPrice"}, {"op": "remove", "path": "` + path + `leadTime/properties/newest"}]`,
		)
	}
	upgrade()
	newer := strings.Replace(
		forecast("a", "x"),
		"signal:",
		"maxPrice: \"3\"\n  leadTime: {mode: Fixed, duration: 5m, newest: \"1\"}\n  signal:",
		1,
	)
	applyNewer := func(want string) {
		t.Helper()
		eventually(t, func() string {
			c.MustKubectl(t, newer, "apply", "--validate=ignore", "-f", "-")
			return apiservertest.Differs(
				"maxPrice",
				c.MustKubectl(t, "", "get", "forecast", "a", "-o", "jsonpath={.spec.maxPrice}"),
				want,
			)
		})
	}
	applyNewer("3")
	s := &scene{T: t, client: forecastsOf(t, c.Config), objects: watch(t, c.Config), snapshots: &snapshot.Store{}}
	s.writer = forecasts.NewStatusWriter(s.objects, s.snapshots, quiet())
	expectTargets(t, s.objects, "a=x")
	now := noon()
	// says steps until the condition says something; without a reason until it is gone.
	says := func(reason string, fields ...string) {
		t.Helper()
		eventually(t, func() string {
			now = now.Add(time.Minute)
			e := entry("a", now)
			status, _ := stored(t, s.client, "a")
			e.Generation = s.objects.List(now)[0].Generation
			publish(s.snapshots, now, e)
			if _, err := s.writer.Step(t.Context(), now); err != nil {
				return err.Error()
			}
			found := meta.FindStatusCondition(status.Conditions, "SpecKnown")
			if found == nil || reason == "" {
				return apiservertest.Differs("the condition is there", found != nil, reason != "")
			}
			for _, field := range fields {
				if found.Reason != reason || !strings.Contains(found.Message, field) {
					return found.Reason + " " + found.Message
				}
			}
			return ""
		})
	}
	says("FieldsUnknown", "spec.maxPrice", "spec.leadTime.newest")
	if got := c.MustKubectl(t, "", "get", "forecast", "a", "-o", "jsonpath={.spec.maxPrice}"); got != "3" {
		t.Errorf("a status write under the newer definition left maxPrice %q", got)
	}
	rollBack()
	says("FieldsDropped", "spec.maxPrice", "spec.leadTime.newest")
	upgrade()
	says("FieldsDropped", "spec.maxPrice")
	applyNewer("3")
	says("FieldsUnknown", "spec.maxPrice")
	rollBack()
	says("FieldsDropped", "spec.maxPrice")
	// Where the field is to be gone.
	upgrade()
	applyNewer("3")
	c.MustKubectl(t, forecast("a", "x"), "apply", "-f", "-")
	says("")
	rollBack()
	says("")
}

// testStale: a write against an older version of an object, or to one that replaced it, is rejected. A write changes nothing but the status.
func testStale(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	c.MustKubectl(t, "", "annotate", "forecast", "a", "note=1")
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	all := client.Resource(v1alpha1.GroupVersion().WithResource("forecasts"))
	before, err := all.Namespace("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := writes.UpdateStatus(t.Context(), all, before, &v1alpha1.ForecastStatus{State: "Ready"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(
		before.Object["spec"],
		after.Object["spec"],
	); diff != "" ||
		after.GetAnnotations()["note"] != "1" ||
		after.GetGeneration() != before.GetGeneration() {
		t.Errorf("it changed more than the status: %s, %v", diff, after.GetAnnotations())
	}
	other := after.DeepCopy()
	other.SetUID("another")
	for name, old := range map[string]*unstructured.Unstructured{"version": before, "object": other} {
		if _, err := writes.UpdateStatus(
			t.Context(),
			all,
			old,
			&v1alpha1.ForecastStatus{State: "Stale"},
		); !apierrors.IsConflict(
			err,
		) {
			t.Errorf("a write to another %s: %v", name, err)
		}
	}
}

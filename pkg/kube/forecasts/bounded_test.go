package forecasts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

// testBounded: of a namespace with too many Forecasts, all replicas keep the same ones. One that is deleted gives its place to the
// next, without a restart.
func testBounded(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	limited := func(o *forecasts.Objects) { o.SetLimits(forecasts.Limits{Forecasts: 2}) }
	early := watchAs(t, c.Config, quiet(), limited)
	const full = "!the namespace already has the maximum of 2 Forecasts: delete one, or ask the operator of Forewarm for a " +
		"higher --max-forecasts-per-namespace"
	c.MustKubectl(
		t,
		forecast("c", "qc")+"---\n"+forecast("b", "qb")+"---\n"+forecast("a", "qa")+"---\n"+forecast("d", "qd"),
		"apply",
		"-f",
		"-",
	)
	// They may be of one second, in which the names decide.
	eventually(t, func() string {
		return apiservertest.Differs("Forecasts", len(early.List(noon())), 4)
	})
	late := watchAs(t, c.Config, quiet(), limited)
	accepted := func(o *forecasts.Objects) (out []string) {
		for _, text := range describe(o.List(noon())) {
			if !strings.HasSuffix(text, full) {
				out = append(out, text)
			}
		}
		return out
	}
	agree := func(want int) {
		t.Helper()
		eventually(t, func() string {
			one, other := accepted(early), accepted(late)
			if len(one) != want {
				return strings.Join(one, ", ") + " are accepted"
			}
			return cmp.Diff(one, other)
		})
	}
	agree(2)
	for range 2 {
		first, _, _ := strings.Cut(accepted(early)[0], "=")
		c.MustKubectl(t, "", "delete", "forecast", first)
		agree(2)
	}
	c.MustKubectl(t, "", "delete", "forecast", strings.Split(accepted(early)[0], "=")[0])
	agree(1)
}

// testLarge: a Forecast that is too large says so, and a status that is written removes nothing that was not read.
func testLarge(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	own := forecastsOf(t, c.Config)
	c.MustKubectl(
		t,
		strings.Replace(
			forecast("large", "up"),
			"{name: large",
			"{labels: {team: a}, annotations: {example.com/note: b}, name: large",
			1,
		),
		"apply",
		"--server-side",
		"--field-manager=gitops",
		"-f",
		"-",
	)
	before, err := own.Get(t.Context(), "large", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, client: own, objects: watch(t, c.Config), snapshots: &snapshot.Store{}}
	s.writer = forecasts.NewStatusWriter(s.objects, s.snapshots, quiet())
	expectTargets(t, s.objects, "large=up")
	s.step(noon(), entry("large", noon()), 1)
	after, err := own.Get(t.Context(), "large", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(
		[]any{before.Object["spec"], before.GetLabels(), before.GetAnnotations(), before.GetManagedFields()[0]},
		[]any{
			after.Object["spec"],
			after.GetLabels(),
			after.GetAnnotations(),
			after.GetManagedFields()[0],
		},
	); diff != "" {
		t.Errorf("a write of the status changed:\n%s", diff)
	}
	if after.Object["status"] == nil {
		t.Error("no status was written")
	}
	events, dates := []any{}, []any{}
	for i := range 120 {
		dates = append(dates, fmt.Sprintf("2026-12-24T00:%02d:%02d", i/60, i%60))
	}
	for i := range 32 {
		events = append(
			events,
			map[string]any{"name": fmt.Sprintf("e%02d", i), "start": "2026-12-24", "times": "2", "alsoOn": dates},
		)
	}
	if err := unstructured.SetNestedField(after.Object, events, "spec", "events"); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Update(t.Context(), after, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	expectTargets(
		t,
		s.objects,
		"large!its spec is 84 KiB of JSON, but Forewarm reads at most 64 KiB: shorten the spec",
	)
}

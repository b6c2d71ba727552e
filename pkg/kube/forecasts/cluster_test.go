package forecasts_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
)

var _ refresh.Jobs = (*forecasts.Objects)(nil)

// TestCluster runs every test of this package on one control plane, one after the other; each clears up.
func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *apiservertest.Cluster)
	}{
		{"Schema", testSchema},
		{"ObjectsComeChangeAndGo", testObjects},
		{"StatusIsWritten", testStatus},
		{"ANamespaceHasTooMany", testBounded},
		{"LargeOnesAreNotRead", testLarge},
		{"ObjectivesAreTold", testObjective},
		{"RefusedStatusesDelayNoOthers", testRefused},
		{"ARollbackOfTheSchemaIsSaid", testRollback},
		{"AStaleWriteIsRejected", testStale},
		{"OneOfTwoWrites", testLeadership},
		{"ThreeHundredAtOnce", testMany},
		{"AnHPAIsFound", testAutoscaled},
		{"AnAnnotationPauses", testPaused},
		{"AnHPAIsFoundByAnAlias", testExposed},
		{"AScaledObjectMisspellsAForecast", testMisspelled},
		{"AStatusCostsNothing", testAStatusCostsNothing},
		{"LeadTimesAreMeasured", testMeasured},
		{"AWarmPoolCovers", testCovered},
		{"StartsUnderAWarmPool", testCountedUnderACover},
		{"TimesAtZeroAreRemembered", testSlept},
		{"VariantsHaveTheirParts", testVariants},
		{"RightsToMeasureAreMissing", testNoRights},
		{"RecordsOfOthersAndNonsense", testRecords},
		{"OldSchema", testOldSchema},
		{"MissingResource", testMissingResource},
		{"ForeignSchema", testForeignSchema},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Cleanup(func() { deleteAll(t, c) })
			test.run(t, c)
		})
	}
}

// deleteAll deletes all Forecasts at once; kubectl would delete five a second.
func deleteAll(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	err := forecastsOf(t, c.Config).DeleteCollection(context.WithoutCancel(t.Context()),
		metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil {
		t.Error(err)
	}
}

// catalogue takes every query and knows one preset.
type catalogue struct{ manifest.OneSource }

func (catalogue) Ready(string, *v1alpha1.ForecastSpec, manifest.Source) string { return "" }

func (catalogue) Render(
	string, string, *v1alpha1.ForecastSpec, manifest.Source, time.Duration,
) (manifest.Rendered, error) {
	return manifest.Rendered{Expr: "inflight"}, nil
}

func (catalogue) Confine(query, _ string, _ manifest.Source) (manifest.Rendered, error) {
	if query == "broken" {
		return manifest.Rendered{}, errors.New("does not parse")
	}
	return manifest.Rendered{Expr: query}, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// watch runs Objects for as long as the test.
func watch(t *testing.T, access *rest.Config) *forecasts.Objects {
	t.Helper()
	return watchAs(t, access, quiet())
}

// eventually waits until a check is empty, which says what is still missing.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	apiservertest.Eventually(t, 20*time.Second, check)
}

// describe writes targets as name=query or name!problem.
func describe(targets []refresh.Job) []string {
	out := []string{}
	for _, t := range targets {
		if t.Invalid != "" {
			out = append(out, t.Key.Name+"!"+t.Invalid)
		} else {
			out = append(out, t.Key.Name+"="+t.Expr)
		}
	}
	return out
}

func expectTargets(t *testing.T, objects *forecasts.Objects, want ...string) {
	t.Helper()
	eventually(t, func() string { return cmp.Diff(append([]string{}, want...), describe(objects.List(noon()))) })
}

func forecast(name, query string) string {
	return fmt.Sprintf(good, name, "signal: {query: "+query+"}")
}

func testObjects(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	objects := watch(t, c.Config)
	if objects.Check() == nil && len(objects.List(noon())) > 0 {
		t.Error("targets before there are any")
	}
	c.MustKubectl(t, forecast("a", "x")+"---"+forecast("b", "z1")+"---"+forecast("c", "broken"), "apply", "-f", "-")
	problem := `c!spec.signal.query: Invalid value: "broken": does not parse`
	expectTargets(t, objects, "a=x", "b=z1", problem)
	if err := objects.Check(); err != nil {
		t.Errorf("synced, yet %v", err)
	}
	before := objects.List(noon())
	c.MustKubectl(t, "", "annotate", "forecast", "a", "note=1")
	c.MustKubectl(t, forecast("b", "z2"), "apply", "-f", "-")
	expectTargets(t, objects, "a=x", "b=z2", problem)
	after := objects.List(noon())
	// What is said of the pods is another matter: the workload is not there, which is found out sooner or later.
	words := cmpopts.IgnoreFields(refresh.Job{}, "LeadSource")
	if diff := cmp.Diff(before[0], after[0], words); diff != "" {
		t.Errorf("an annotation changed a target: %s", diff)
	}
	if after[1].Generation != before[1].Generation+1 || before[1].Expr != "z1" {
		t.Errorf("generation %d after %d; the old slice says %q",
			after[1].Generation, before[1].Generation, before[1].Expr)
	}
	c.MustKubectl(t, forecast("c", "w"), "apply", "-f", "-")
	c.MustKubectl(t, "", "delete", "forecast", "a")
	expectTargets(t, objects, "b=z2", "c=w")
}

// testMissingResource shows what is said where the CRD is not there, and that the watch finds it when it comes.
func testMissingResource(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "delete", "-f", "deploy/charts/forewarm/files/crds/forewarm.dev_forecasts.yaml", "--wait")
	objects := watch(t, c.Config)
	eventually(t, func() string {
		if err := objects.Check(); err == nil ||
			!strings.Contains(err.Error(), "apply deploy/default, or upgrade the chart") {
			return fmt.Sprintf("the check says %v", err)
		}
		return ""
	})
	c.MustKubectl(t, "", "create", "-f", "deploy/charts/forewarm/files/crds/forewarm.dev_forecasts.yaml")
	c.MustKubectl(t, "", "wait", "--for=condition=Established", "crd/forecasts.forewarm.dev")
	c.MustKubectl(t, forecast("late", "x"), "create", "-f", "-")
	expectTargets(t, objects, "late=x")
	if err := objects.Check(); err != nil {
		t.Error(err)
	}
}

// testForeignSchema stores what the schema would refuse: it costs that object and not the list.
func testForeignSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "patch", "crd", "forecasts.forewarm.dev", "--type=json", "-p", `[{"op": "replace",
		"path": "/spec/versions/0/schema/openAPIV3Schema",
		"value": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}]`)
	c.MustKubectl(t, forecast("fine", "x"), "create", "-f", "-")
	// The API server takes a moment to forget the schema.
	eventually(t, func() string {
		output, err := c.Kubectl(t, `{"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast",
			"metadata": {"name": "poison", "namespace": "default"},
			"spec": {"models": {"a": 1}, "scaling": {"target": true}}, "status": []}`, "create", "--validate=false", "-f", "-")
		if err != nil {
			return output
		}
		return ""
	})
	// A new watch lists them all.
	objects := watch(t, c.Config)
	eventually(t, func() string {
		targets := objects.List(noon())
		if len(targets) != 2 || describe(targets)[0] != "fine=x" ||
			!strings.Contains(targets[1].Invalid, "is not a Forecast of forewarm.dev/v1alpha1") {
			return fmt.Sprint(describe(targets))
		}
		return ""
	})
}

// testMany creates three hundred objects at once and waits for their targets.
func testMany(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	const count = 300
	objects := watch(t, c.Config)
	client := forecastsOf(t, c.Config)
	done := make(chan error, count)
	slots := make(chan struct{}, 16)
	for i := range count {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			object := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "forewarm.dev/v1alpha1", "kind": "Forecast",
				"metadata": map[string]any{"name": fmt.Sprintf("f-%03d", i)},
				"spec": map[string]any{
					"targetRef": map[string]any{"kind": "Deployment", "name": "d"},
					"signal":    map[string]any{"query": "x"},
				},
			}}
			_, err := client.Create(t.Context(), object, metav1.CreateOptions{})
			done <- err
		}()
	}
	for range count {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, func() string { return apiservertest.Differs("targets", len(objects.List(noon())), count) })
	paceOfMany(t, objects, client)
}

func forecastsOf(t *testing.T, access *rest.Config) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(access)
	if err != nil {
		t.Fatal(err)
	}
	return client.Resource(v1alpha1.GroupVersion().WithResource("forecasts")).Namespace("default")
}

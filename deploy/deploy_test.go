// Package deploy_test applies the manifests of deploy/ to a real API server.
package deploy_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorization "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/workloads"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/keda"
	"github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

const account = "system:serviceaccount:forewarm-system:forewarm"

func TestDeploy(t *testing.T) {
	c := apiservertest.Start(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *apiservertest.Cluster)
	}{
		{"EverythingApplies", testApply},
		{"TheSamplesApply", testSamples},
		{"TheAccountMayDoItsWork", testWork},
		{"AndNothingElse", testRights},
		{"PeopleMayLook", testPeople},
		{"WarmPoolsMayBeHeld", testWarmPools},
		{"DemandEventsMayBeRead", testDemandEvents},
		{"FleetsMayBePlanned", testFleets},
		{"APIServicesAreConfined", testAPIServices},
		{"WithKEDAScaler", testKEDAScaler},
		{"TheAgent", testAgent},
		{"ItGoesAway", testRemoval},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

func testApply(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	apply := func(args ...string) {
		t.Helper()
		output := c.MustKubectl(t, "", append([]string{"apply", "--server-side", "--validate=strict"}, args...)...)
		if strings.Contains(output, "Warning") {
			t.Errorf("the API server warns: %s", output)
		}
	}
	// Twice: a second time must change nothing.
	apply("-k", "deploy/default")
	apply("-k", "deploy/default")
	c.MustKubectl(t, "", "create", "namespace", "inference")
	apply("-f", "deploy/samples/forecast.yaml", "-f", "deploy/samples/hpa.yaml")
	apply("-f", "deploy/samples/hpa-object.yaml", "--force-conflicts")
	// The leader creates them.
	services := c.MustKubectl(t, "", "get", "apiservice", "-l", "app.kubernetes.io/part-of=forewarm", "-o", "name")
	if services != "" {
		t.Errorf("APIServices were applied:\n%s", services)
	}
}

// catalogue takes everything.
type catalogue struct{ manifest.OneSource }

func (catalogue) Ready(string, *v1alpha1.ForecastSpec, manifest.Source) string { return "" }

func (catalogue) Render(
	string, string, *v1alpha1.ForecastSpec, manifest.Source, time.Duration,
) (manifest.Rendered, error) {
	return manifest.Rendered{Expr: "x"}, nil
}

func (catalogue) Confine(query, _ string, _ manifest.Source) (manifest.Rendered, error) {
	return manifest.Rendered{Expr: query}, nil
}

// testWork watches, leads, measures and writes a status with the rights of the Deployment's account alone.
func testWork(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	as := rest.CopyConfig(c.Config)
	as.Impersonate.UserName = account
	log := slog.New(slog.DiscardHandler)
	c.MustKubectl(t, workload, "create", "-f", "-")
	objects, err := forecasts.NewObjects(as, manifest.NewResolver(catalogue{}), log)
	if err != nil {
		t.Fatal(err)
	}
	leadership, err := forecasts.NewLeadership(as, forecasts.LeaseConfig{
		Namespace: "forewarm-system", Name: "forewarm", Identity: "test",
	}, log)
	if err != nil {
		t.Fatal(err)
	}
	snapshots := &snapshot.Store{}
	entry := &snapshot.ForecastSnapshot{
		Key:        snapshot.Key{Namespace: "inference", Name: "llama-inflight"},
		Generation: 1,
		State:      snapshot.Pending,
		Conditions: []snapshot.Condition{
			{Type: snapshot.ConditionReady, Reason: "Pending", Message: "the sample's status"},
		},
	}
	snapshots.Publish(
		snapshot.New(time.Now(), map[snapshot.Key]*snapshot.ForecastSnapshot{entry.Key: entry}, 1,
			snapshot.LoopStats{}),
	)
	writer := forecasts.NewStatusWriter(objects, snapshots, log)

	stop := apiservertest.Background(t, objects.Run)
	resign := apiservertest.Background(t, func(ctx context.Context) error {
		return leadership.Run(ctx, func(ctx context.Context) { writer.Run(ctx, run.WallClock{}) })
	})
	c.MustKubectl(t, "", "wait", "--namespace=inference", "--for=jsonpath={.status.state}=Pending", "--timeout=20s",
		"forecast/llama-inflight")
	expectMeasuring(t, as)
	resign()
	stop()
	table := c.MustKubectl(t, "", "get", "forewarm", "-A", "-o", "wide")
	if !strings.Contains(table, "the sample's status") {
		t.Errorf("the condition is not in the wide table:\n%s", table)
	}
	holder := c.MustKubectl(t, "", "get", "lease", "-n", "forewarm-system", "forewarm", "-o",
		"jsonpath={.spec.holderIdentity}")
	if holder != "" {
		t.Errorf("the lease was not given back: %q holds it", holder)
	}
}

// expectMeasuring waits until the pods of the sample's workload are watched, with the rights of the Deployment's account.
func expectMeasuring(t *testing.T, as *rest.Config) {
	t.Helper()
	llama := leadtime.Workload{Namespace: "inference", APIVersion: "apps/v1", Kind: "Deployment", Name: "llama"}
	wanted := func() []leadtime.Workload { return []leadtime.Workload{llama} }
	watch, err := workloads.New(as, workloads.Config{}, wanted, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	stop := apiservertest.Background(t, func(ctx context.Context) error {
		watch.Run(ctx)
		return nil
	})
	apiservertest.Eventually(t, 20*time.Second, func() string { return watch.Problem(llama) })
	stop()
}

// workload is what the sample's Forecast scales.
const workload = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: inference}
spec:
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {containers: [{name: c, image: i}]}
`

// may asks the API server's own authorizer.
func may(t *testing.T, c *apiservertest.Cluster, who string, ask authorization.ResourceAttributes) bool {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	review, err := client.AuthorizationV1().
		SubjectAccessReviews().
		Create(t.Context(), &authorization.SubjectAccessReview{
			Spec: authorization.SubjectAccessReviewSpec{User: who, ResourceAttributes: &ask},
		}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// testKEDAScaler looks at the whole of what is applied: arguments, port and Secret must come together.
func testKEDAScaler(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	rendered := c.MustKubectl(t, "", "kustomize", "deploy/with-keda-scaler")
	for _, word := range []string{
		"--keda-address=:9090", "name: forewarm-client", "containerPort: 9090", "targetPort: keda", "--secure-port=6443",
		"targetPort: https",
	} {
		if !strings.Contains(rendered, word) {
			t.Errorf("%q is not in what deploy/with-keda-scaler renders", word)
		}
	}
	c.MustKubectl(t, "", "create", "namespace", "keda")
	c.MustKubectl(t, "", "apply", "--server-side", "--validate=strict", "-k", "deploy/with-keda-scaler")
	expectRights(t, c, "keda-rights.yaml")
}

// TestTheScaledObjectOfTheSamplesIsUnderstood asks the scaler what the sample's trigger asks, of the sample's Forecast.
func TestTheScaledObjectOfTheSamplesIsUnderstood(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("samples", "scaledobject.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	document, _, _ := strings.Cut(string(text), "\n---\n")
	var sample struct {
		Metadata struct {
			Name, Namespace string
		} `json:"metadata"`
		Spec struct {
			Triggers []struct {
				Type     string            `json:"type"`
				Metadata map[string]string `json:"metadata"`
			} `json:"triggers"`
		} `json:"spec"`
	}
	if err = yaml.Unmarshal([]byte(document), &sample); err != nil {
		t.Fatal(err)
	}
	trigger := sample.Spec.Triggers[0]
	if trigger.Type != "external-push" {
		t.Errorf("a trigger of type %s", trigger.Type)
	}
	key := snapshot.Key{Namespace: "inference", Name: "llama-inflight"}
	scaler := keda.New(snapshottest.Store(snapshottest.Ready(key)), nil, snapshottest.Now)
	ref := &externalscaler.ScaledObjectRef{
		Name: sample.Metadata.Name, Namespace: sample.Metadata.Namespace, ScalerMetadata: trigger.Metadata,
	}
	spec, err := scaler.GetMetricSpec(t.Context(), ref)
	if err != nil || spec.GetMetricSpecs()[0].GetTargetSizeFloat() != 64 {
		t.Errorf("the spec is %v (%v), want a target of 64", spec, err)
	}
	if active, err := scaler.IsActive(t.Context(), ref); err != nil || !active.GetResult() {
		t.Errorf("active %v (%v), want true", active.GetResult(), err)
	}
}

func testRemoval(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, "", "delete", "-k", "deploy/warm-pools")
	c.MustKubectl(t, "", "delete", "-k", "deploy/demand-events")
	c.MustKubectl(t, "", "delete", "-k", "deploy/fleets")
	c.MustKubectl(t, "", "delete", "--wait=false", "-k", "deploy/default", "--ignore-not-found")
	c.MustKubectl(t, "", "delete", "--wait=false", "-k", "deploy/agent", "--ignore-not-found")
}

// TestNothingIsForgotten holds every folder of manifests against what is applied or rendered above.
func TestNothingIsForgotten(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(apiservertest.Root(t), "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	applied := map[string]bool{
		"agent":            true,
		"charts":           true,
		"default":          true,
		"demand-events":    true,
		"fleets":           true,
		"samples":          true,
		"warm-pools":       true,
		"with-keda-scaler": true,
		"testdata":         true,
		"dashboards":       true, // Sources, which cmd/forewarm tests as rendered into the chart.
	}
	for _, e := range entries {
		if e.IsDir() && !applied[e.Name()] {
			t.Errorf("no test applies %s", filepath.Join("deploy", e.Name()))
		}
	}
}

package forecasts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

const horizontal = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: default}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics: [{type: External, external: {metric: {name: a}, target: {type: AverageValue, averageValue: 64}}}]
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
`

// scaledAs waits until the only Forecast is calibrated for what is wanted, and says it.
func scaledAs(t *testing.T, objects *forecasts.Objects, want string) decide.Autoscaler {
	t.Helper()
	eventually(t, func() string {
		targets := objects.List(noon())
		if len(targets) != 1 || len(targets[0].Autoscalers) != 1 {
			return "no scaling"
		}
		return cmp.Diff(want, targets[0].AutoscalerSource)
	})
	target := objects.List(noon())[0]
	if target.Settings.Target != target.Autoscalers[0].Target() || target.Uncalibrated != "" {
		t.Errorf("target %g of %+v, %q", target.Settings.Target, target.Autoscalers, target.Uncalibrated)
	}
	return target.Autoscalers[0]
}

// missing waits until the autoscalers that name no Forecast are those wanted.
func missing(t *testing.T, objects *forecasts.Objects, want string) {
	t.Helper()
	eventually(t, func() string {
		err := testutil.CollectAndCompare(objects, strings.NewReader(want), "forewarm_autoscaler_forecast_missing")
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// testAutoscaled has an HPA come, change and go: what is learnt follows its settings, and spec.scaling while there is none.
func testAutoscaled(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	objects := watch(t, c.Config)
	const needs = "badHours 1% is not calibrated, because Forewarm does not know what one replica sustains"
	eventually(t, func() string {
		targets := objects.List(noon())
		if len(targets) != 1 || !strings.HasPrefix(targets[0].Uncalibrated, needs) || targets[0].Autoscalers != nil {
			return "the target does not report: " + needs
		}
		return ""
	})
	c.MustKubectl(t, "", "patch", "forecast", "a", "--type=merge", "-p", `{"spec": {"scaling": {"target": "50"}}}`)
	scaledAs(t, objects, "spec.scaling: 50 a replica, 1 to 1000000 replicas")

	c.MustKubectl(t, horizontal, "create", "-f", "-")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "hpa", "llama", "--ignore-not-found") })
	const by64 = "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas; spec.scaling.target 50 is not used, " +
		"because autoscalers read this Forecast"
	got := scaledAs(t, objects, by64)
	// What the API server filled in is what is filled in here.
	var written autoscalingv2.HorizontalPodAutoscaler
	if err := yaml.Unmarshal([]byte(horizontal), &written); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(autoscaler.References(autoscaler.FromHPA(&written))[0].Spec, got.HPA); diff != "" {
		t.Error(diff)
	}

	before := objects.List(noon())
	c.MustKubectl(t, "", "patch", "hpa", "llama", "--subresource=status", "--type=merge", "-p",
		`{"status": {"currentReplicas": 3, "desiredReplicas": 4, "conditions": [], "currentMetrics": []}}`)
	c.MustKubectl(t, "", "patch", "hpa", "llama", "--type=merge", "-p",
		`{"spec": {"behavior": {"scaleUp": {"selectPolicy": "Min"}}, "maxReplicas": 30}}`)
	got = scaledAs(t, objects, strings.Replace(by64, "20", "30", 1))
	if got.HPA.Behavior.Up.Select != hpa.SelectMin || before[0].Autoscalers[0].HPA.Max != 20 {
		t.Errorf("%+v after %+v", got.HPA, before[0].Autoscalers[0].HPA)
	}
	c.MustKubectl(t, "", "patch", "hpa", "llama", "--type=json", "-p",
		`[{"op": "replace", "path": "/spec/metrics/0/external/target", "value": {"type": "Value", "value": "64"}}]`)
	scaledAs(t, objects,
		"spec.scaling: 50 a replica, 1 to 1000000 replicas; HorizontalPodAutoscaler/llama is not used: its target "+
			"of type Value multiplies the total demand by the ready pods: write type: AverageValue")
	missing(t, objects, "")
	c.MustKubectl(t, "", "delete", "forecast", "a")
	missing(t, objects, "") // The External metric may be another server's.
	objects.SetExternalHeld(func() bool { return true })
	missing(t, objects, `
# HELP forewarm_autoscaler_forecast_missing 1 for an autoscaler that names a Forecast that does not exist.
# TYPE forewarm_autoscaler_forecast_missing gauge
forewarm_autoscaler_forecast_missing{autoscaler="HorizontalPodAutoscaler/llama",forecast="a",namespace="default"} 1
`)
	c.MustKubectl(t, "", "delete", "hpa", "llama")
	missing(t, objects, "")
}

// testMisspelled: a ScaledObject that KEDA reports as healthy, because its fallback has taken over, still counts as one without a Forecast.
func testMisspelled(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	c.MustKubectl(t, "", "create", "-f", "pkg/kube/autoscalers/testdata/scaledobjects.yaml")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "crd", "scaledobjects.keda.sh") })
	object := func(name, forecast, metadata string) string {
		return fmt.Sprintf(`
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %s, namespace: default}
spec:
  scaleTargetRef: {name: llama}
  fallback: {failureThreshold: 3, replicas: 2}
  triggers: [{type: external, metadata: {scalerAddress: "forewarm:9090", forecast: %s%s}}]
status:
  hpaName: keda-hpa-%[1]s
  conditions: [{type: Ready, status: "True"}, {type: Active, status: "True"}, {type: Fallback, status: "True"}]
`, name, forecast, metadata)
	}
	eventually(t, func() string {
		out, err := c.Kubectl(
			t,
			object("right", "a", `, target: "40"`),
			"create",
			"-f",
			"-",
		) // Until the kind is served.
		if err != nil {
			return out
		}
		return ""
	})
	c.MustKubectl(t, object("with-target", "aa", `, target: "40"`)+object("without-target", "ab", "")+
		object(
			"with-variant",
			"ac",
			`, target: "40", variant: spot`,
		)+object("invalid-target", "ad", `, target: many`), "create", "-f", "-")
	const line = `forewarm_autoscaler_forecast_missing{autoscaler="ScaledObject/%s",forecast="%s",namespace="default"} 1` + "\n"
	missing(t, watch(t, c.Config), `
# HELP forewarm_autoscaler_forecast_missing 1 for an autoscaler that names a Forecast that does not exist.
# TYPE forewarm_autoscaler_forecast_missing gauge
`+fmt.Sprintf(line, "invalid-target", "ad")+fmt.Sprintf(line, "with-target", "aa")+fmt.Sprintf(line, "with-variant", "ac")+
		fmt.Sprintf(line, "without-target", "ab"))
}

// testAStatusCostsNothing: what the HPA's controller writes every 15 s leaves the targets as they were.
func testAStatusCostsNothing(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t,
		horizontal+"---"+fmt.Sprintf(good, "a", "signal: {query: x}\n  leadTime: {mode: Fixed, duration: 4m}"),
		"create", "-f", "-")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "hpa", "llama") })
	objects := watch(t, c.Config)
	scaledAs(t, objects, "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas")
	before := objects.List(noon())
	c.MustKubectl(t, "", "patch", "hpa", "llama", "--subresource=status", "--type=merge", "-p",
		`{"status": {"currentReplicas": 3, "desiredReplicas": 4, "conditions": [], "currentMetrics": []}}`)
	c.MustKubectl(t,
		strings.Replace(strings.Replace(horizontal, "name: llama, n", "name: other, n", 1), "name: a}", "name: b}", 1),
		"create", "-f", "-")
	t.Cleanup(func() { c.MustKubectl(t, "", "delete", "hpa", "other") })
	eventually(t, func() string {
		return apiservertest.Differs("HPAs that came after the status", len(forecasts.References(objects, "b")), 1)
	})
	if after := objects.List(noon()); &after[0] != &before[0] {
		t.Errorf("the targets were rebuilt: %s", cmp.Diff(before, after))
	}
}

// testPaused has an annotation come, change and go: the target follows at once, in the same generation.
func testPaused(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	objects := watch(t, c.Config)
	expectTargets(t, objects, "a=x")
	for len(objects.Changed()) > 0 {
		<-objects.Changed()
	}
	for _, step := range []struct {
		annotation      string
		paused, invalid bool
	}{
		{"forewarm.dev/pause=true", true, false},
		{"forewarm.dev/pause=yes", false, true},
		{"forewarm.dev/pause=", false, true},
		{"forewarm.dev/pause-", false, false},
	} {
		c.MustKubectl(t, "", "annotate", "--overwrite", "forecast", "a", step.annotation)
		select {
		case <-objects.Changed():
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no one is told", step.annotation)
		}
		got := objects.List(noon())[0]
		if got.Pause.Active() != step.paused || (got.Pause.Invalid != "") != step.invalid || got.Generation != 1 {
			t.Errorf("%s: generation %d, %+v", step.annotation, got.Generation, got.Pause)
		}
	}
}

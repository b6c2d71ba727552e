package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cli"
	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

const initWorkload = `
{apiVersion: v1, kind: Namespace, metadata: {name: team}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: team}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 9
  metrics: [{type: Pods, pods: {metric: {name: vllm_num_requests_running}, target: {type: AverageValue, averageValue: 2500m}}}]
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader, namespace: team},
  rules: [{apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [list]}]}
`

// The API server accepts what is created with the user's own rights, once; who may not see the Forecasts creates none.
func TestInitInACluster(t *testing.T) {
	c := apiservertest.Start(t)
	store := httptest.NewServer(&recordedtest.Prometheus{Answer: func(query string) func(time.Time) float64 {
		if strings.Contains(query, "vllm:") && !strings.Contains(query, "nv_inference") { // Triton reads them, too.
			return func(time.Time) float64 { return 7 }
		}
		return nil
	}})
	t.Cleanup(store.Close)
	c.MustKubectl(t, initWorkload, "apply", "-f", "-")
	c.MustKubectl(t, "", "create", "rolebinding", "reader", "-n", "team", "--role=reader", "--user=reader")
	as := func(kubeconfig string) (said string, code int) {
		var out bytes.Buffer
		code = cli.Program{}.Run(t.Context(), []string{
			"init", "--kubeconfig", kubeconfig, "-n", "team", "--prometheus", store.URL, "--apply",
		}, &out, &out)
		return out.String(), code
	}
	admin, reader := apiservertest.Kubeconfig(t, c.Config), apiservertest.Kubeconfig(t, c.User(t, "reader"))
	for _, step := range []struct {
		kubeconfig, wants string
		code              int
	}{
		{reader, "Deployments are not read: you are not allowed to list them", 1},
		{reader, "--apply needs permission to list forecasts.forewarm.dev", 1},
		{admin, "llama-inflight, created", 0},
		{admin, "it already has a Forecast: llama-inflight", 0},
	} {
		said, code := as(step.kubeconfig)
		if code != step.code || !strings.Contains(said, step.wants) {
			t.Errorf("exit code %d, want %d and %q:\n%s", code, step.code, step.wants, said)
		}
	}
	got := c.MustKubectl(t, "", "get", "forecast", "llama-inflight", "-n", "team", "-o",
		"jsonpath={.spec.scaling.before.target}")
	if got != "2500m" {
		t.Errorf("scaling.before.target %s, want 2500m", got)
	}
}

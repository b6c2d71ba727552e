package main

import (
	"strings"
	"testing"
)

// warmPool: one that recommends holds nothing, and one that enforces its fallback at least, whatever is known of its member.
// On its deletion all is given back.
func warmPool(t *testing.T, s *scene) {
	t.Helper()
	const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: qwen, namespace: team}
spec:
  selector: {matchLabels: {app: qwen}}
  template: {metadata: {labels: {app: qwen}}, spec: {containers: [{name: c, image: i}]}}
`
	pool := func(mode string) string {
		return `
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: h100, namespace: team}
spec:
  members: [{forecast: pooled}]
  chunk: {podTemplate: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
  max: 4
  fallback: 2
  budget: {idleGPUHoursPerDay: 24}
  mode: ` + mode
	}
	shows := func(path, want string) {
		t.Helper()
		eventually(t, func() string {
			got := s.MustKubectl(t, "", "get", "warmpool", "h100", "-n", "team", "-o", "jsonpath={.status."+path+"}")
			if got != want {
				return path + " is " + got + ", want " + want
			}
			return ""
		})
	}
	// What it scales is looked for once, and then not again for a minute.
	s.MustKubectl(t, deployment, "apply", "-f", "-")
	s.MustKubectl(t, strings.Replace(forecast("pooled", "query: up", "0.9"), "name: llama}", "name: qwen}", 1)+
		"  scaling: {target: \"20\"}\n", "apply", "-f", "-")
	s.MustKubectl(t, pool("Recommend"), "apply", "-f", "-")
	shows(`conditions[?(@.type=="MembersResolved")].status`, "True")
	shows("held", "0")
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	s.MustKubectl(t, pool("Enforce"), "apply", "-f", "-")
	shows(`conditions[?(@.type=="Actuated")].status`, "True")
	held := s.MustKubectl(t, "", "get", "warmpool", "h100", "-n", "team", "-o",
		"jsonpath={.status.wanted} {.status.held}")
	if wanted, now, _ := strings.Cut(held, " "); wanted != now || wanted < "2" {
		t.Errorf("wanted and held are %q", held)
	}
	eventually(t, func() string {
		for _, r := range s.replicas {
			if _, body := r.get(t, "/metrics"); strings.Contains(body,
				`forewarm_warm_pool_held_chunks{namespace="team",pool="h100"}`) {
				return ""
			}
		}
		return "no replica has the pool's gauges"
	})
	dashboardNames(t, s)
	// Kubernetes' garbage collector, which is not here, deletes what a pool owns.
	owner := s.MustKubectl(t, "", "get", "deployment", "warm-h100", "-n", "team", "-o",
		"jsonpath={.metadata.ownerReferences[*].kind}/{.metadata.ownerReferences[*].name}")
	if owner != "WarmPool/h100" {
		t.Errorf("the placeholder pods belong to %s", owner)
	}
	s.MustKubectl(t, "", "delete", "warmpool", "h100", "-n", "team", "--timeout=60s")
	eventually(t, func() string {
		if told := s.MustKubectl(t, "", "get", "events", "-n", "team"); !strings.Contains(told, "warmpool/h100") {
			return "no event is about the pool:\n" + told
		}
		return ""
	})
	s.MustKubectl(t, "", "delete", "forecast", "pooled", "-n", "team")
}

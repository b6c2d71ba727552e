package main

import (
	"strings"
	"testing"
)

// fleetOfLoad has the Forecast load as its member, and the only node.
const fleetOfLoad = `
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {gpu: h100}}
---
apiVersion: forewarm.dev/v1alpha1
kind: GPUFleet
metadata: {name: h100, namespace: team}
spec:
  gpus: {nodeSelector: {gpu: h100}}
  members: [{forecast: load}]
  batch: [{name: embeddings, selector: {matchLabels: {app: embeddings}}, run: 20m}]
`

// gpuFleet: every replica plans a fleet with the rights of the manifests, and the leader writes its status.
func gpuFleet(t *testing.T, s *scene) {
	t.Helper()
	s.MustKubectl(t, "", "patch", "node", "a", "--subresource=status", "--type=merge", "-p",
		`{"status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	eventually(t, func() string {
		got := s.MustKubectl(t, "", "get", "gpufleet", "h100", "-n", "team", "-o",
			`jsonpath={.status.gpus} {.status.conditions[?(@.type=="MembersResolved")].reason}`)
		if got != "8 NoScalingTarget" {
			return "the status is " + got
		}
		return ""
	})
	leaders := 0
	for _, r := range s.replicas {
		_, body := r.get(t, "/metrics")
		if strings.Contains(body, `forewarm_fleet_gpus{fleet="h100",namespace="team"} 8`) {
			leaders++
		}
	}
	if leaders != 1 {
		t.Errorf("%d replicas have the metrics of the fleet, want the leader", leaders)
	}
}

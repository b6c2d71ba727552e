package signal_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/signal"
)

// readiness is what kube-state-metrics says of the pods of the other fixtures: one of Deployment llama is not ready.
const readiness = `
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-a",condition="false"} 0x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-b",condition="true"} 0x40
  kube_pod_status_ready{namespace="ai",pod="llama-7d9-b",condition="false"} 1x40
  kube_pod_status_ready{namespace="ai",pod="llama-old-c",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="other-555-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="db-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-0-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="lws-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="p-raw",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="big-kserve-mn-0",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="big-kserve-mn-0-1",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="small-kserve-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="ai",pod="small-kserve-prefill-a",condition="true"} 1x40
  kube_pod_status_ready{namespace="prod",pod="llama-7d9-a",condition="true"} 1x40
`

func TestReadyReplicas(t *testing.T) {
	tests := []struct{ name, kind, target, want string }{
		{"of a Deployment, old ReplicaSets too", "Deployment", "llama", "{} 2"},
		{"of a StatefulSet", "StatefulSet", "db", "{} 1"},
		{"of a gang, by its leaders", "LeaderWorkerSet", "lws", "{} 2"},
		{"of an InferenceService", "InferenceService", "m.v1", "{} 1"},
		{"of KServe's LLM on one node", "LLMInferenceService", "small", "{} 1"},
		{"of KServe's LLM over several, by the leader", "LLMInferenceService", "big", "{} 1"},
		{"of nobody", "Deployment", "nobody", ""},
	}
	load := owners + viaDeployments + byLLM + readiness
	for how, scraped := range map[string]string{
		"honoured": load, "exported": exported(load, "monitoring", "ksm-0"), "twice": twice(load),
	} {
		for _, tt := range tests {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				expr, err := signal.ReadyReplicas("ai", signal.Target{Kind: tt.kind, Name: tt.target}, trust())
				if err != nil {
					t.Fatal(err)
				}
				evaluates(t, scraped, expectation{expr: expr, want: tt.want})
			})
		}
	}
}

func TestReadyReplicasOfWhatHasNone(t *testing.T) {
	for want, target := range map[string]signal.Target{
		"not the replicas of the Ray Serve deployments": {Kind: "RayService", Name: "chat"},
		"target name is empty":                          {Kind: "Deployment"},
	} {
		if _, err := signal.ReadyReplicas("ai", target, trust()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want it to say %q", target, err, want)
		}
	}
}

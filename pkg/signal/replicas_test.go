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

// Ready replicas without a sample are counted, however they are scraped; those that are not ready are not.
func TestSilent(t *testing.T) {
	const reports = `
  vllm:num_requests_running{namespace="ai",pod="llama-7d9-a",engine="0",model_name="m"} 3x40
  vllm:num_requests_waiting{namespace="ai",pod="llama-7d9-a",engine="0",model_name="m"} 1x40
`
	preset, err := signal.Lookup("vllm/inflight")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ kind, target, want string }{
		"one of two reports": {"Deployment", "llama", "{} 1"},
		"none reports":       {"StatefulSet", "db", "{} 1"},
		"nobody":             {"Deployment", "nobody", ""},
	} {
		target := signal.Target{Kind: c.kind, Name: c.target}
		expr, err := preset.Render("ai", target, trust())
		if err != nil {
			t.Fatal(err)
		}
		silent := signal.Silent(expr, "ai", target, trust())
		load := owners + viaDeployments + byLLM + readiness
		for how, scraped := range map[string]string{"honoured": load, "exported": exported(load, "monitoring", "ksm-0")} {
			t.Run(name+"/"+how,
				func(t *testing.T) { evaluates(t, scraped+reports, expectation{expr: silent, want: c.want}) })
		}
	}
	llama := signal.Target{Kind: "Deployment", Name: "llama"}
	if got := signal.Silent("sum(rate(requests_total[2m]))", "ai", llama, trust()); got != "" {
		t.Errorf("of a query that adds up no pods: %s", got)
	}
}

func TestIsAverage(t *testing.T) {
	for query, want := range map[string]bool{
		"avg(x)": true, "(avg by (job) (x))": true, "sum(avg by (pod) (x))": false, "sum(x) / count(x)": false, "avg(": false,
	} {
		if got := signal.IsAverage(query); got != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

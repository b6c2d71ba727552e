package neighbours_test

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// demandStep is the step of the Forecasts.
const demandStep = 5 * time.Second

// scene is a namespace with an autoscaler and a load.
type scene struct {
	load, policy string
	// query is what is scaled on, as people write it, and target its value for each replica. Forewarm has its preset instead.
	query, target string
	// picker: the real endpoint picker is in front.
	picker bool
}

// The signals of a scene.
const (
	queue    = "sum(vllm:num_requests_waiting{namespace='%s'})"
	inFlight = "sum({__name__=~'vllm:num_requests_(running|waiting)',namespace='%s'})"
	kvCache  = "sum(vllm:kv_cache_usage_perc{namespace='%s'})"
)

// fullCache is the share of its cache that a replica uses for a full batch.
const fullCache = .6

// scenes are all policies under all loads.
func scenes() (out []scene) {
	for load := range rates {
		out = append(out, scene{load, forewarms, "", "16", load == "flat"},
			scene{load, "hpa-queue-4", queue, "4", false}, scene{load, "hpa-queue-1", queue, "1", false},
			scene{load, "hpa-inflight-10", inFlight, "10", false}, scene{load, "hpa-inflight-6", inFlight, "6", false},
			scene{load, "hpa-cache-40", kvCache, "400m", false}, scene{load, "hpa-cache-25", kvCache, "250m", false},
			scene{load, "keda-queue-1", queue, "1", false}, scene{load, "keda-inflight-6", inFlight, "6", false},
			scene{load, "keda-cache-25", kvCache, "0.25", false})
	}
	return append(
		out,
		scene{"rise", forewarms + "-picker", "", "16", true},
		scene{"rise", forewarms + "-offered", "", "16", false},
		scene{"rise", forewarms + "-unprotected", "", "16", false},
		scene{"rise", "hpa-inflight-6-picker", inFlight, "6", true},
	)
}

// forewarms is the policy of Forewarm.
const forewarms = "forewarm"

func (s *scene) namespace() string { return s.load + "-" + s.policy }

func (s *scene) keda() bool { return strings.HasPrefix(s.policy, "keda") }

func (s *scene) foreseen() bool { return strings.HasPrefix(s.policy, forewarms) }

// unprotected: its pods stop by the defaults of Kubernetes and vLLM.
func (s *scene) unprotected() bool { return strings.HasSuffix(s.policy, "-unprotected") }

// How the other pods stop: a preStop sleep that is longer than the endpoints' lag, and a server and a kubelet that wait for the longest
// request.
const (
	preStop     = 5 * time.Second
	gracePeriod = preStop + longest + 10*time.Second
)

// stop is how a pod stops, in its template.
func (s *scene) stop() string {
	if s.unprotected() {
		return "containers: [{name: server, image: model, ports: [{containerPort: " + serverPort + "}]}]"
	}
	return fmt.Sprintf(`terminationGracePeriodSeconds: %.0[1]f
      containers:
        - name: server
          image: model
          args: [--shutdown-timeout=%.0[2]f]
          ports: [{containerPort: %[3]s}]
          lifecycle: {preStop: {sleep: {seconds: %.0[4]f}}}
          readinessProbe: {httpGet: {path: /health, port: %[3]s}, periodSeconds: 1, failureThreshold: 1}`,
		gracePeriod.Seconds(), longest.Seconds(), serverPort, preStop.Seconds())
}

// initial is the replicas that serve the load at its beginning.
func (s *scene) initial() int { return int(math.Ceil(rates[s.load](0) / 1.6)) }

// workload is the model servers, and the Forecast of what they are scaled on.
func (s *scene) workload() string {
	// The fleet is the pods' kubelet: it reports them as ready, long before kwok would, and stops them.
	out := fmt.Sprintf(`
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: %[1]s}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}, annotations: {start.e2e/delay: 24h, stop.e2e/kubelet: fleet}}
    spec:
      %[3]s
`, s.namespace(), s.initial(), s.stop())
	if s.keda() {
		return out
	}
	signal := fmt.Sprintf("query: %q", fmt.Sprintf(s.query, s.namespace()))
	promise := `quantile: "0.95"
  serve: Shadow`
	if s.foreseen() {
		signal = "preset: vllm/inflight"
		if strings.HasSuffix(s.policy, "-offered") {
			signal = "preset: vllm/offered"
		}
		promise = fmt.Sprintf(
			"objective: {late: 2%%, wait: %s, over: 1h, measured: {preset: vllm/time-to-first-token}}",
			lateAfter,
		)
	}
	return out + fmt.Sprintf(`---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: llama, namespace: %[1]s}
spec:
  targetRef: {kind: Deployment, name: llama}
  signal: {%[2]s}
  step: %[3]s
  history: 2h
  seasons: [%[4]s]
  leadTime: {mode: Fixed, duration: %[5]s}
  scaling: {target: %[7]q}
  %[6]s
`, s.namespace(), signal, demandStep, loadCycle, startUp, promise, s.target)
}

// autoscaler is the HPA on the Forecast, or KEDA's ScaledObject.
func (s *scene) autoscaler(prometheus string) string {
	if s.keda() {
		return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llama, namespace: %[1]s}
spec:
  scaleTargetRef: {name: llama}
  minReplicaCount: 1
  maxReplicaCount: 12
  triggers:
    - type: prometheus
      metricType: AverageValue
      metadata: {serverAddress: %[2]q, query: %[3]q, threshold: %[4]q}
`, s.namespace(), prometheus, fmt.Sprintf(s.query, s.namespace()), s.target)
	}
	behavior := "{}"
	if s.foreseen() {
		behavior = "{scaleDown: {stabilizationWindowSeconds: 0}}"
	}
	return fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: %[1]s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 12
  behavior: %[2]s
  metrics:
    - {type: Object, object: {
        describedObject: {apiVersion: forewarm.dev/v1alpha1, kind: Forecast, name: llama},
        metric: {name: demand}, target: {type: AverageValue, averageValue: %[3]q}}}
`, s.namespace(), behavior, s.target)
}

// history is the series of a past, of a pod that ends with it. All scenes have one: what the shadow mode serves is bounded by it, too.
func (s *scene) history(past []float64) map[string][]float64 {
	one, cache := make([]float64, len(past)), make([]float64, len(past))
	for i, v := range past {
		one[i], cache[i] = 1, v/batch*fullCache
	}
	past[len(past)-1], cache[len(past)-1] = 0, 0 // It stays visible for minutes.
	pod := fmt.Sprintf(`namespace=%q,pod="past"`, s.namespace())
	return map[string][]float64{
		"vllm:num_requests_running{" + pod + "}":                                past,
		"vllm:num_requests_waiting{" + pod + "}":                                make([]float64, len(past)),
		"vllm:kv_cache_usage_perc{" + pod + "}":                                 cache,
		"kube_pod_owner{" + pod + `,owner_kind="ReplicaSet",owner_name="past"}`: one,
		fmt.Sprintf(`kube_replicaset_owner{namespace=%q,replicaset="past",owner_kind="Deployment",owner_name="llama"}`,
			s.namespace()): one,
	}
}

package neighbours_test

import (
	"fmt"
	"strings"
)

// The start times of the scenarios: a node registers after 20 s, a model server takes 6 s.
const (
	registration = "20s"
	serverTime   = "6s"
)

// shape is the label of a node pool's nodes, by which the pods of a namespace select them.
const shape = "shape.e2e"

// instanceTypes returns Karpenter's file of instance types: one with one GPU and one with four, on demand and spot.
func instanceTypes() string {
	var types []string
	for _, gpus := range []int{1, 4} {
		var offers []string
		for kind, price := range map[string]float64{"on-demand": 2, "spot": 0.7} {
			offers = append(offers, fmt.Sprintf(`{"Price": %g, "Available": true, "Requirements": [
				{"key": "karpenter.sh/capacity-type", "operator": "In", "values": [%q]},
				{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}`,
				price*float64(gpus), kind))
		}
		types = append(types, fmt.Sprintf(`{"name": "gpu-%[1]dx", "architecture": "amd64",
			"operatingSystems": ["linux"], "resources": {"cpu": "%[2]d", "memory": "%[3]dGi", "pods": "110", "nvidia.com/gpu": "%[1]d"},
			"offerings": [%[4]s]}`, gpus, 16*gpus, 128*gpus, strings.Join(offers, ",")))
	}
	return "[" + strings.Join(types, ",") + "]"
}

// nodeClass returns a node class whose nodes register after a delay.
func nodeClass(name, delay string) string {
	return fmt.Sprintf(`
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: %s}
spec: {nodeRegistrationDelay: %s}`, name, delay)
}

// nodePool returns a NodePool for the pods of a namespace, by which it is called, or by that and a suffix. Lines add
// fields to its spec.
func nodePool(name, class, types, capacity string, lines ...string) string {
	namespace, _, _ := strings.Cut(name, "-")
	return fmt.Sprintf(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %[1]s}
spec:
  template:
    metadata: {labels: {%[2]s: %[3]s}}
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: %[4]s}
      expireAfter: Never
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: %[5]s}
        - {key: karpenter.sh/capacity-type, operator: In, values: [%[6]s]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 10s, budgets: [{nodes: "100%%"}]}
  %[7]s`, name, shape, namespace, class, types, capacity, strings.Join(lines, "\n  "))
}

// karpenterWorkload returns a namespace with a Deployment of one GPU a replica on its own nodes, and its Forecast.
func karpenterWorkload(namespace string, replicas int, lines ...string) string {
	return fmt.Sprintf(`
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
    metadata: {labels: {app: llama}, annotations: {start.e2e/delay: %[3]s}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {%[4]s: %[1]s}
      containers: [{name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}]
---
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: llama, namespace: %[1]s}
spec:
  targetRef: {kind: Deployment, name: llama}
  signal: {query: 'sum(inflight{namespace="%[1]s"})'}
  step: 1s
  history: 1h
  quantile: "0.95"
  seasons: [%[5]s]
  %[6]s
`, namespace, replicas, serverTime, shape, cycle, strings.Join(lines, "\n  "))
}

// fixedLead is the lead time of a model server, and target is what a replica sustains, for Forecasts without an HPA.
const (
	fixedLead = "leadTime: {mode: Fixed, duration: " + serverTime + "}"
	target    = `scaling: {target: "10"}`
)

// hpa returns an HPA on the observed demand.
func hpa(namespace string) string {
	return fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: %s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  maxReplicas: 20
  metrics:
    - {type: External, external: {metric: {name: llama, selector: {matchLabels: {serve: shadow}}},
        target: {type: AverageValue, averageValue: "10"}}}
`, namespace)
}

// warmPool returns the pool of a namespace's workload.
func warmPool(namespace string, lines ...string) string {
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: pool, namespace: %[1]s}
spec:
  members: [{forecast: llama}]
  chunk:
    podTemplate:
      metadata: {labels: {app: llama}}
      spec:
        nodeSelector: {%[2]s: %[1]s}
        containers: [{name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}]
  %[3]s
`, namespace, shape, strings.Join(lines, "\n  "))
}

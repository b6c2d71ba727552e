package e2e_test

import (
	"fmt"
	"strings"
)

func namespace(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}", name)
}

// workload returns a Deployment with one GPU per replica; its pods become ready after a delay.
func workload(namespace, name, delay string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  replicas: %[4]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {start.e2e/delay: %[3]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - {name: server, image: model, resources: {limits: {nvidia.com/gpu: "1"}}}`, namespace, name, delay, replicas)
}

// forecastOf returns a Forecast with a step of 1 s and a lead time of 5 s. Lines replace or add fields of its spec,
// or remove one by an empty value.
func forecastOf(namespace, name string, lines ...string) string {
	spec := map[string]string{
		"targetRef": "{kind: Deployment, name: " + name + "}",
		"signal":    fmt.Sprintf("{query: 'sum(inflight{app=%q})'}", name),
		"step":      "1s", "history": "1h", "leadTime": "{mode: Fixed, duration: 5s}", "quantile": `"0.95"`,
	}
	for _, line := range lines {
		field, value, _ := strings.Cut(line, ": ")
		if spec[field] = value; value == "" {
			delete(spec, field)
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "apiVersion: forewarm.dev/v1alpha1\nkind: Forecast\nmetadata: {name: %s, namespace: %s}\nspec:\n",
		name, namespace)
	for field, value := range spec {
		fmt.Fprintf(&out, "  %s: %s\n", field, value)
	}
	return out.String()
}

// external returns an External metric of a Forecast, with a selector that may be empty and a target of 10.
func external(forecast, selector string) string {
	return fmt.Sprintf(`{type: External, external: {metric: {name: %s, selector: {matchLabels: {%s}}},
      target: {type: AverageValue, averageValue: "10"}}}`, forecast, selector)
}

// object returns the same as an Object metric.
func object(forecast string) string {
	return fmt.Sprintf(`{type: Object, object: {
      describedObject: {apiVersion: forewarm.dev/v1alpha1, kind: Forecast, name: %s},
      metric: {name: demand}, target: {type: AverageValue, averageValue: "10"}}}`, forecast)
}

// hpa returns an HPA of a Deployment, from 1 to 20 replicas.
func hpa(namespace, name, deployment string, metrics ...string) string {
	return fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %s, namespace: %s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
  maxReplicas: 20
  metrics:
    - %s
`, name, namespace, deployment, strings.Join(metrics, "\n    - "))
}

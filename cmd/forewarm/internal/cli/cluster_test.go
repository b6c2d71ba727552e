package cli_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// cluster answers as a kube-apiserver does for a few objects: by path, the object in YAML, or what it refuses.
type cluster map[string]string

// forbidden stands for an object that the user may not read.
const forbidden = "forbidden"

func (c cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, found := c[r.URL.Path]
	switch {
	case !found:
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		refuse(w, &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: fmt.Sprintf("%q not found", name), Details: &metav1.StatusDetails{Name: name},
		})
	case text == forbidden:
		refuse(w, &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: "User \"me\" cannot read " + r.URL.Path,
		})
	default:
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(data) //nolint:errcheck // A test's client that is gone needs no answer.
	}
}

// with is a cluster with some other answers.
func (c cluster) with(changes cluster) cluster {
	out := cluster{}
	for _, part := range []cluster{c, changes} {
		maps.Copy(out, part)
	}
	return out
}

const (
	ofHPAs     = "/apis/autoscaling/v2/namespaces/inference/horizontalpodautoscalers"
	ofScale    = "/apis/apps/v1/namespaces/inference/deployments/llama/scale"
	ofMetric   = "/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/llama"
	ofForecast = "/apis/forewarm.dev/v1alpha1/namespaces/inference/forecasts/llama"
	ofOutlook  = "/apis/inspect.forewarm.dev/v1alpha1/namespaces/inference/outlooks/llama"
	ofScaled   = "/apis/keda.sh/v1alpha1/namespaces/inference/scaledobjects/llama"
)

// scaling is an HPA as the API server has it, on a metric, with an owner.
func scaling(name, owner, metric string) string {
	return fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %s, namespace: inference, generation: 1, ownerReferences: [%s]}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  minReplicas: 1
  maxReplicas: 20
  metrics:
    - {type: External, external: {metric: {name: %s}, target: {type: AverageValue, averageValue: "10"}}}
status:
  observedGeneration: 1
  currentReplicas: 12
  desiredReplicas: 12
  lastScaleTime: "2026-11-20T12:00:00Z"
  currentMetrics:
    - {type: External, external: {metric: {name: %[3]s}, current: {averageValue: 10417m}}}
  conditions:
    - {type: AbleToScale, status: "True", reason: ReadyForNewScale, message: recommended size matches current size}
    - {type: ScalingActive, status: "True", reason: ValidMetricFound, message: found}
`, name, owner, metric)
}

// healthyCluster is an HPA at rest on a Forecast, twelve replicas for 125.
func healthyCluster() cluster {
	return cluster{
		"/api":  `{kind: APIVersions, versions: [v1]}`,
		"/apis": `{kind: APIGroupList, apiVersion: v1, groups: [{name: apps, versions: [{groupVersion: apps/v1, version: v1}], preferredVersion: {groupVersion: apps/v1, version: v1}}]}`,
		"/apis/apps/v1": `{kind: APIResourceList, apiVersion: v1, groupVersion: apps/v1, resources: [
  {name: deployments, singularName: deployment, namespaced: true, kind: Deployment, verbs: [get]},
  {name: deployments/scale, namespaced: true, group: autoscaling, version: v1, kind: Scale, verbs: [get]}]}`,
		"/api/v1":         `{kind: APIResourceList, apiVersion: v1, groupVersion: v1, resources: []}`,
		ofHPAs + "/llama": scaling("llama", "", "llama"),
		ofHPAs:            `{kind: HorizontalPodAutoscalerList, apiVersion: autoscaling/v2, items: []}`,
		ofScale: `{kind: Scale, apiVersion: autoscaling/v1, metadata: {name: llama, namespace: inference},
  spec: {replicas: 12}, status: {replicas: 12, selector: app=llama}}`,
		ofForecast: `{kind: Forecast, apiVersion: forewarm.dev/v1alpha1, metadata: {name: llama, namespace: inference},
  spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}, signal: {preset: vllm/inflight}}}`,
		ofMetric: `{kind: ExternalMetricValueList, apiVersion: external.metrics.k8s.io/v1beta1,
  items: [{metricName: llama, value: "125", timestamp: "2026-11-20T12:00:00Z"}]}`,
		ofOutlook: `{kind: Outlook, apiVersion: inspect.forewarm.dev/v1alpha1, metadata: {name: llama, namespace: inference},
  status: {state: Ready, reason: "the 0.95 quantile of the window peak is 125", observed: 110, served: 125,
    unit: requests, quantile: 0.95, window: 6m15s, leadTime: {duration: 5m0s, source: fixed in spec.leadTime}, step: 30s}}`,
	}
}

// ownedByKEDA is the same by a ScaledObject.
func ownedByKEDA() cluster {
	const owner = "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: llama, uid: x, controller: true}"
	const plateau = `step: 30s, classifications: [{from: "2026-11-20T11:40:00Z", to: "2026-11-20T12:10:00Z", kind: Censored,
      message: as much as all replicas carry, samples: 60}]`
	return healthyCluster().with(cluster{
		ofOutlook:                  strings.Replace(healthyCluster()[ofOutlook], "step: 30s", plateau, 1),
		ofHPAs + "/keda-hpa-llama": scaling("keda-hpa-llama", owner, "s1-forewarm"),
		strings.Replace(ofMetric, "/llama", "/s1-forewarm", 1): healthyCluster()[ofMetric],
		ofScaled: `{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: llama, namespace: inference},
  spec: {scaleTargetRef: {name: llama}, triggers: [{type: cron, metadata: {}},
    {type: external, metadata: {forecast: llama, scalerAddress: "x:1"}}]}}`,
	})
}

// ailing is one whose Forecast has everything that is warned of: too little history, a plateau, a rise of the last day that
// the HPA's policies do not follow, an objective that maxReplicas keep from being met; and it only watches.
func ailing() cluster {
	slowly := "spec:\n  behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 120}]}, " +
		"scaleDown: {stabilizationWindowSeconds: 60}}\n"
	return healthyCluster().with(cluster{
		ofHPAs + "/llama": strings.Replace(scaling("llama", "", "llama"), "spec:\n", slowly, 1),
		ofOutlook: `{kind: Outlook, apiVersion: inspect.forewarm.dev/v1alpha1, metadata: {name: llama, namespace: inference},
  status: {state: Warming, serve: Shadow, reason: "shadow mode: the observed 125 is served; the value would be 160", observed: 125, served: 125, late: 0.01,
    window: 6m15s, leadTime: {duration: 5m0s, source: fixed in spec.leadTime}, step: 30s,
    objective: {wait: 30s, verdict: AtMaxReplicas, message: 1% late takes 26 replicas, summary: "", over: 24h, served: {}, observed: {}, saved: {}},
    conditions: [{type: Ready, status: "False", reason: Warming, message: 4h of 24h of history},
      {type: Saturated, status: "True", reason: Censored, message: since 11:40 it stays at 120}],
    recent: [{time: "2026-11-20T11:00:00Z", observed: 40}, {time: "2026-11-20T11:05:00Z", observed: 99},
      {time: "2026-11-20T11:10:00Z"}, {time: "2026-11-20T11:15:00Z", observed: 125}],
    path: [{time: "2026-11-20T12:00:00Z", point: 131}]}}`,
	})
}

// withFewRights is one in which nothing but the HPA may be read.
func withFewRights() cluster {
	return healthyCluster().with(cluster{
		ofHPAs: forbidden, ofScale: forbidden, ofMetric: forbidden, ofOutlook: forbidden,
	})
}

package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// podMetrics is a metrics adapter that is not Forewarm: it serves custom.metrics.k8s.io, with each pod's share of the
// demand as the Pods metric inflight.
type podMetrics struct {
	demand *demand
	client kubernetes.Interface
}

// podMetricsService is how the kube-apiserver finds it, as prometheus-adapter's manifests have it.
const podMetricsService = `
apiVersion: v1
kind: Namespace
metadata: {name: monitoring}
---
apiVersion: v1
kind: Service
metadata: {name: pod-metrics, namespace: monitoring}
spec: {type: ExternalName, externalName: localhost}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.custom.metrics.k8s.io}
spec:
  group: custom.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {namespace: monitoring, name: pod-metrics, port: %s}
`

// servePodMetrics serves the demand as a Pods metric until the test ends. Forewarm leaves the API group to it.
func (s *stage) servePodMetrics(t *testing.T) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(&podMetrics{demand: s.demand, client: client})
	t.Cleanup(server.Close)
	s.MustApply(t, fmt.Sprintf(podMetricsService, server.URL[strings.LastIndex(server.URL, ":")+1:]))
}

// ServeHTTP answers .../namespaces/NAMESPACE/pods/*/inflight?labelSelector=app=NAME, and the discovery.
func (p *podMetrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const version = "custom.metrics.k8s.io/v1beta1"
	rest, namespaced := strings.CutPrefix(r.URL.Path, "/apis/"+version+"/namespaces/")
	namespace, ofPods := strings.CutSuffix(rest, "/pods/*/inflight")
	var answer any
	var err error
	switch {
	case namespaced && ofPods:
		answer, err = p.list(r, version, namespace)
	case r.URL.Path == "/apis/"+version:
		answer = metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
			APIResources: []metav1.APIResource{{
				Name: "pods/inflight", Namespaced: true, Kind: "MetricValueList", Verbs: []string{"get"},
			}},
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) //nolint:errcheck // The client has gone.
}

// list returns the share of each ready pod. The pods of a workload share its demand evenly.
func (p *podMetrics) list(r *http.Request, version, namespace string) (any, error) {
	selector := r.URL.Query().Get("labelSelector")
	pods, err := p.client.CoreV1().Pods(namespace).List(r.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var ready []string
	for i := range pods.Items {
		if isReady(&pods.Items[i]) {
			ready = append(ready, pods.Items[i].Name)
		}
	}
	items := []any{}
	_, name, _ := strings.Cut(selector, "app=")
	share := p.demand.now(namespace, name) / float64(len(ready))
	for _, pod := range ready {
		items = append(items, map[string]any{
			"describedObject": map[string]any{"kind": "Pod", "apiVersion": "/v1", "namespace": namespace, "name": pod},
			"metricName":      "inflight", "timestamp": time.Now().UTC().Format(time.RFC3339),
			"value": fmt.Sprintf("%.0fm", math.Ceil(1000*share)),
		})
	}
	return map[string]any{
		"kind": "MetricValueList", "apiVersion": version, "metadata": map[string]any{}, "items": items,
	}, nil
}

func isReady(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil
		}
	}
	return false
}

package demo

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// namespace is that of the demo's Forecasts and series.
const namespace = "demo"

// metric is one metric of the workload's /metrics page, with all its series.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string
	series     []timeSeries
}

// timeSeries is one series as a pure function of time; false where it has no sample.
type timeSeries struct {
	values []string
	at     func(time.Time) (float64, bool)
}

// requestsMetric are the counters of an HTTP service with three pods of unequal shares.
func requestsMetric(p *Playback) metric {
	m := metric{
		name: "http_requests_total", help: "Requests that the demo's service has answered.",
		kind: prometheus.CounterValue, labels: []string{"namespace", "pod", "code"},
	}
	for i, share := range []float64{0.5, 0.3, 0.2} {
		m.series = append(m.series, timeSeries{
			values: []string{namespace, "api-6f7c9d5b48-" + podSuffix(i), "200"},
			at: func(t time.Time) (float64, bool) {
				count, ok := p.Count(t)
				return math.Floor(count * share), ok
			},
		})
	}
	return m
}

const (
	gpus       = 6
	gpuWorker  = "llm"
	replicaSet = "llm-7d9c5f6b8d"
)

// gpuBusyMetrics are the series that dcgm-exporter and kube-state-metrics export for a Deployment with one GPU for each pod.
// The trace is the sum of the busy shares of all GPUs.
func gpuBusyMetrics(p *Playback) []metric {
	busy := metric{
		name: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", help: "Share of time that the graphics engine is active.",
		kind: prometheus.GaugeValue,
		labels: []string{
			"gpu", "UUID", "modelName", "hostname", "namespace", "pod", "container",
			"exported_namespace", "exported_pod", "exported_container",
		},
	}
	owner := metric{
		name: "kube_pod_owner", help: "Information about the Pod's owner.",
		kind: prometheus.GaugeValue, labels: []string{"namespace", "pod", "owner_kind", "owner_name"},
	}
	for i := range gpus {
		pod := replicaSet + "-" + podSuffix(i)
		busy.series = append(busy.series, timeSeries{
			values: []string{
				strconv.Itoa(i), fmt.Sprintf("GPU-%08x", 0x5eed+i), "NVIDIA H100 80GB HBM3", "demo-node",
				"gpu-operator", "dcgm-exporter-x7k2p", "exporter", namespace, pod, "server",
			},
			at: func(t time.Time) (float64, bool) {
				total, ok := p.At(t)
				return shareOf(i, total/gpus), ok
			},
		})
		owner.series = append(owner.series, timeSeries{
			values: []string{namespace, pod, "ReplicaSet", replicaSet}, at: constantOne,
		})
	}
	deployment := metric{
		name: "kube_replicaset_owner", help: "Information about the ReplicaSet's owner.",
		kind: prometheus.GaugeValue, labels: []string{"namespace", "replicaset", "owner_kind", "owner_name"},
		series: []timeSeries{{values: []string{namespace, replicaSet, "Deployment", gpuWorker}, at: constantOne}},
	}
	return []metric{busy, owner, deployment}
}

// shareOf is how busy one GPU is when all are busy to the given share on average. The GPUs differ less, the nearer the
// average is to 0 or 1, and their mean is exactly the average.
//
// Example: six GPUs with an average of 0.5 are at 0.4, 0.44, 0.48, 0.52, 0.56 and 0.6.
func shareOf(gpu int, average float64) float64 {
	average = min(1, max(0, average))
	lean := float64(2*gpu-(gpus-1)) / (gpus - 1) // −1 … 1, summing to 0.
	return average + 0.4*lean*average*(1-average)
}

// traceMetric is a user's trace, unchanged.
func traceMetric(p *Playback) metric {
	return metric{
		name: "forewarm_trace_value", help: "The value of the trace that the demo plays.",
		kind: prometheus.GaugeValue, labels: []string{"namespace"},
		series: []timeSeries{{values: []string{namespace}, at: p.At}},
	}
}

func constantOne(time.Time) (float64, bool) { return 1, true }

// podSuffix is the random-looking end of a pod's name.
func podSuffix(i int) string {
	return []string{"2xk7q", "5mzpw", "8c4vn", "hb6tr", "q9dlf", "zw3js"}[i]
}

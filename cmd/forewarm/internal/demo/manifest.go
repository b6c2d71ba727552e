package demo

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
)

// The Forecasts of the demo, as a user would write them.
const (
	requestsManifest = `# The requests of an HTTP service, and how much of them may wait for capacity.
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: requests, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  signal: {query: 'sum(rate(http_requests_total{namespace="demo"}[1m]))'}
  objective: {late: "1%", wait: 30s}
  scaling: {target: "10"}
  leadTime: {mode: Fixed, duration: 5m}
  step: 1m
  history: 14d
`
	gpuBusyManifest = `# The busy GPUs of a model server, by a preset on the metrics of dcgm-exporter.
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: gpu-busy, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: llm}
  signal: {preset: dcgm/gpu-busy}
  quantile: "0.95"
  leadTime: {mode: Fixed, duration: 5m}
  step: 1m
  history: 14d
`
	traceManifest = `# A recorded series, as it is.
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: trace, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: trace}
  signal: {query: 'sum(forewarm_trace_value{namespace="demo"})'}
  quantile: "0.95"
  leadTime: {mode: Fixed, duration: 5m}
  step: %s
  history: %s
`
)

// The bounds of what a user's trace is asked for, within those of any Forecast (see package config).
const (
	minStep, maxStep       = time.Second, 5 * time.Minute
	minHistory, maxHistory = 30 * time.Minute, 14 * day
	maxPoints              = 100_000
)

// traceForecast is the Forecast for a user's trace: in the trace's own steps, over as much of its past as is of use.
func traceForecast(p *Playback, now time.Time) string {
	step := min(maxStep, max(minStep, p.Step().Round(time.Second)))
	past := now.Sub(p.Start()).Round(step)
	history := max(minHistory, min(past, maxHistory, maxPoints*step))
	return fmt.Sprintf(traceManifest, model.Duration(step), model.Duration(history))
}

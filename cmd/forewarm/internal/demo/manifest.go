package demo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// The Forecasts of the demo, as a user would write them.
const (
	requestsManifest = `# The requests of an HTTP service, with an objective: at most 1 % of the demand waits longer than 30 s.
apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: requests, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  signal: {query: 'sum(rate(http_requests_total{namespace="demo"}[1m]))'}
  objective: {late: "1%", wait: 30s}
  scaling: {target: "10", minReplicas: 1, maxReplicas: 40}
  leadTime: {mode: Fixed, duration: 5m}
  step: 1m
  history: 14d
`
	gpuBusyManifest = `# The busy GPUs of a model server, from a preset for the metrics of dcgm-exporter.
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
  %s
  leadTime: {mode: Fixed, duration: 5m}
  step: %s
  history: %s
`
	// A trace gets an objective where the capacity of a replica is known, otherwise a quantile.
	traceObjective = "objective: {late: \"1%%\", wait: 30s}\n  scaling: {target: \"%s\"}"
	traceQuantile  = `quantile: "0.95"`
)

// The bounds of the Forecast for a user's trace, within those of any Forecast (see package [manifest]).
const (
	minStep, maxStep       = time.Second, 5 * time.Minute
	minHistory, maxHistory = 30 * time.Minute, 14 * day
	maxPoints              = 100_000
)

// traceForecast is the Forecast for a user's trace: in the trace's own steps, over as much of its past as a Forecast
// may use. The target is what one replica sustains, 0 where unknown.
func traceForecast(p *Playback, target float64, now time.Time) string {
	asked := traceQuantile
	if target > 0 {
		asked = fmt.Sprintf(traceObjective, strconv.FormatFloat(target, 'f', -1, 64))
	}
	step := min(maxStep, max(minStep, p.Step().Round(time.Second)))
	past := now.Sub(p.Start()).Round(step)
	history := max(minHistory, min(past, maxHistory, maxPoints*step))
	return fmt.Sprintf(traceManifest, asked, model.Duration(step), model.Duration(history))
}

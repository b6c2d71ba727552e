package demo

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
)

// namespace is that of the demo's Forecast and series.
const namespace = "demo"

// forecastYAML is the Forecast of the demo, as a user would write it.
const forecastYAML = `apiVersion: forewarm.dev/v1alpha1
kind: Forecast
metadata: {name: %[1]s, namespace: demo}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: %[1]s}
  signal: {query: 'sum(demo_demand{namespace="demo"})'}
  objective: {late: "1%%", wait: 30s}
  scaling: {target: "%[2]s"}
  leadTime: {mode: Fixed, duration: 5m}
  step: %[3]s
  history: %[4]s
`

// The bounds of the Forecast for a user's trace, within those of any Forecast (see package [manifest]).
const (
	minStep, maxStep       = time.Second, 5 * time.Minute
	minHistory, maxHistory = 30 * time.Minute, 14 * day
	maxPoints              = 100_000
)

// manifest is the Forecast of the load: in the trace's own steps, over as much of its past as a Forecast may use.
func (l *load) manifest(begin time.Time) string {
	step := min(maxStep, max(minStep, l.Step.Round(time.Second)))
	past := begin.Sub(l.Start).Round(step)
	history := max(minHistory, min(past, maxHistory, maxPoints*step))
	return fmt.Sprintf(forecastYAML, l.name, strconv.FormatFloat(l.target, 'f', -1, 64), model.Duration(step),
		model.Duration(history))
}

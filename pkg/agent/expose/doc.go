// Package expose serves the agent's newest picture as Prometheus metrics, the last hour as OpenMetrics with timestamps,
// and the agent's health.
package expose

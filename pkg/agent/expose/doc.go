// Package expose shows the agent's newest picture: as Prometheus metrics, the last hour as OpenMetrics with timestamps, and
// whether the agent is well.
package expose

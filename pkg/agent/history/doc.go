// Package history keeps the agent's series over the last hour, as means per step, so that they can be read after a gap: by a
// Prometheus that was away, and by an agent that was started anew.
package history

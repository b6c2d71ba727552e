// Package history keeps the agent's series over the last hour, as means of each step. A Prometheus that missed scrapes
// and an agent that was restarted read them to fill the gap.
package history

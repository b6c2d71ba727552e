// Package telemetry turns the newest snapshot into Prometheus metrics: what is observed, forecast and served, how old
// the data is, how well the models did, and how the refresh loop goes. A number that is not known is left out, never NaN
// or 0.
package telemetry

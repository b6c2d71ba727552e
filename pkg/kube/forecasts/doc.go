// Package forecasts watches Forecast objects in the Kubernetes API and writes their statuses.
//
// Objects watches and resolves them: it is the refresh loop's set of targets. StatusWriter writes the newest snapshot
// into each object's status, at a bounded rate. Leadership elects the one replica that writes; a replica that loses
// the lease stops writing and continues to serve.
//
// The objective is calibrated for the autoscalers that refer to the Forecast, which package [autoscalers] finds.
//
// In mode Auto, the lead time is measured on the starts of the workload's pods. Package [workloads] finds them, and
// whether the workload is scaled to zero. The leader writes both into the status, and all replicas read them from
// there: so all use the same values, and a restart continues with them. While a warm pool covers a Forecast (Covers),
// its lead time is that of starts on existing nodes. Replicas and Starts are the input of the warm pools.
package forecasts

// Package forecasts watches Forecast objects in the Kubernetes API and writes their status.
//
// Objects watches and resolves the Forecasts, and provides the refresh loop with its targets. StatusWriter writes the
// newest snapshot into the status of each object, at a limited rate. Leadership elects the one replica that writes. A
// replica that loses the lease stops writing and continues to serve.
//
// The objective is calibrated for the autoscalers that read the Forecast, which package [autoscalers] finds.
//
// In mode Auto, the lead time is measured on the starts of the workload's pods. Package [workloads] finds them, and
// whether the workload is scaled to zero. The leader writes both into the status, and all replicas read them from
// there, so that all replicas use the same values and a restart continues with them. While a warm pool covers a Forecast
// (Covers), the lead time of the Forecast is measured only on starts on existing nodes. Replicas and Starts provide the
// input of the warm pools.
package forecasts

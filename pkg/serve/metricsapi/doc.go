// Package metricsapi turns the newest snapshot into the two metrics APIs that the HorizontalPodAutoscaler reads:
// external.metrics.k8s.io, where the metric carries the Forecast's name, and custom.metrics.k8s.io, where the metric
// "demand" is described by the Forecast object itself.
//
// A request never causes a query or a fit. It finds the Forecast first (404), then reads the selector (400, with the
// valid keys), then the value (503 with the reason while there is nothing sound to say: the HPA keeps what it has).
// Every error's message is what the HPA shows in its ScalingActive condition.
package metricsapi

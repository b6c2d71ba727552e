// Package metricsapi serves the newest snapshot as the two metrics APIs that the HorizontalPodAutoscaler reads:
// external.metrics.k8s.io, where the metric has the Forecast's name, and custom.metrics.k8s.io, where the metric
// "demand" is of the Forecast object.
//
// The metric "spare" of a GPUFleet, and its External metric NAME-spare, are the replicas of a consumer that may run now.
//
// A request causes no query and no fit. It looks up the Forecast (404), parses the selector (400, with the valid keys)
// and then returns the value (503 with the reason while none can be served: the HPA keeps its replicas). The HPA shows
// the message of an error in its condition ScalingActive.
package metricsapi

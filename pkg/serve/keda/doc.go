// Package keda serves the newest snapshot as a KEDA external scaler: whether a workload is active, its demand, and the
// demand that one replica serves. The triggers "external" and "external-push" of a ScaledObject or ScaledJob call it.
//
// The trigger's metadata has these keys:
//
//	forecast    name of the Forecast, in the ScaledObject's own namespace; no other can be named
//	target      demand that one replica serves, a quantity above 0; default: that of the Forecast's other autoscalers or
//	            its scaling.target
//	activation  demand above which the workload is active; default: any that is observed, or a tenth of the target that is
//	            expected
//	badHours, horizon, late, model, quantile, serve, variant   another value of the Forecast, as in the selector of an HPA's metric
//
// A trigger that has these keys instead of forecast is about the spare GPUs of a fleet. Its target is 1 by default, and it is
// active while a replica may run:
//
//	fleet       name of the GPUFleet, in the same namespace
//	batch       name of the consumer in spec.batch of the GPUFleet
//
// KEDA's own keys are ignored. Any other key is an error that lists the valid ones, because a misspelt key would
// otherwise silently have no effect.
//
// # Errors
//
// InvalidArgument lists every problem of the trigger. NotFound is a Forecast that does not exist. Unavailable is a
// Forecast that serves no value now, with the reason. KEDA treats all errors of GetMetrics and IsActive alike: it keeps the
// replicas, or applies the ScaledObject's fallback. So unknown demand is an error and never 0, and unknown activity an error
// and never false: false would scale a workload to zero because data is missing.
//
// KEDA calls GetMetrics only after GetMetricSpec has succeeded, so a fallback needs a metric spec. A trigger that has its own
// target always gets one, also where the Forecast does not exist.
//
// # Batch work
//
// The value of a fleet's trigger is how many replicas of the consumer may run, including those that run. A ScaledJob starts the
// difference to its running Jobs with the default strategy only: "accurate" and "eager" start the whole value at each poll. KEDA
// leaves out inactive triggers and triggers with an error, so a second trigger would start Jobs while no GPU is spare. For the
// same reason its minReplicaCount must be 0.
//
// # Looking ahead
//
// A value is a forecast of the maximum of demand over the lead window, so IsActive is true a lead time before the first
// request, and the workload is ready when it arrives. With a horizon, either window can activate it: a horizon shorter
// than the lead time would activate it too late.
package keda

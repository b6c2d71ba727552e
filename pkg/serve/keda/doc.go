// Package keda turns the newest snapshot into what KEDA asks of an external scaler: whether a workload is to be awake, its
// demand, and what one replica carries. The triggers "external" and "external-push" of a ScaledObject or ScaledJob call it.
//
// The trigger's metadata says what is asked:
//
//	forecast    name of the Forecast, in the ScaledObject's own namespace; no other can be named
//	target      what one replica carries, a quantity above 0; default: what the Forecast's other autoscalers or its
//	            scaling.target say
//	activation  the demand above which the workload is to be awake; default 0
//	horizon, late, model, quantile, serve   another view of the Forecast, as by the selector of an HPA's metric
//
// Keys that are KEDA's own are passed over; any other is an error that lists the valid ones, because a misspelt key would
// otherwise be a setting that silently does not hold.
//
// # Errors
//
// InvalidArgument is a fault in the trigger, all of it at once. NotFound is a Forecast that does not exist. Unavailable is
// a Forecast with nothing sound to say now, and says why. KEDA takes every error alike: it keeps the replicas, or applies
// the ScaledObject's fallback. That is why an unknown demand is an error and never 0, and an unknown activity an error and
// never false: false would put a workload to sleep for want of data.
//
// # Looking ahead
//
// A value is about the maximum of demand over the lead window, so IsActive is true a lead time before the first request,
// and the workload is awake when it comes. With a horizon, either window may wake it: a horizon shorter than the lead time
// would wake it too late.
package keda

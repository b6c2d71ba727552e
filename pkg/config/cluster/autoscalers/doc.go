// Package autoscalers watches the HorizontalPodAutoscalers and, where KEDA is installed, the ScaledObjects of a cluster, and
// keeps which metrics of them name which Forecast.
//
// Of an object nothing is kept but these references; most have none. So the watches go straight to package autoscaler,
// without informers and their copies, and a HorizontalPodAutoscaler whose status changes every 15 s leaves everything as it
// is.
package autoscalers

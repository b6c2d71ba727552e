// Package hpa is the replica arithmetic of the stock HorizontalPodAutoscaler (autoscaling/v2) as plain functions: what
// its controller reads goes in, the number of replicas it would write comes out, with the reasons it would put into the
// HPA's conditions. The simulator drives it over a trace, explain over the present.
//
// One sync walks this path, a file for each station:
//
//	readings ──> proposal of each metric, the largest wins (metric.go)
//	         ──> stabilization: recent recommendations hold it (stabilization.go)
//	         ──> rate: policies and earlier changes limit it, then min and max (rate.go)
//	         ──> replicas (controller.go)
//
// It follows the controller of Kubernetes 1.36 to the digit, also where that one is odd: every such place says so. The
// module in hack/components/kubernetes runs it side by side with the real controller on generated cases. What is left out: Pods and
// Resource metrics, which read single pods.
package hpa

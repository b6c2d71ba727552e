// Package hpa computes the replicas of the stock HorizontalPodAutoscaler (autoscaling/v2) in plain functions. The input is what its
// controller reads. The output is the number of replicas and the reasons of the HPA's conditions. The simulator uses it on recorded demand,
// and `forewarm explain` uses it on the present demand.
//
// One sync passes these stages, each in its own file:
//
//	readings ──> proposal of each metric, the largest wins (metric.go)
//	         ──> stabilization by recent recommendations (stabilization.go)
//	         ──> policies and earlier scalings, then min and max (rate.go)
//	         ──> replicas (controller.go)
//
// The results are equal to the results of the controller of Kubernetes 1.37, including its oddities, which comments point out. The module
// in hack/components/kubernetes compares both on generated cases, and `make e2e-versions` does so with older controllers: from 1.34 on, they
// differ only at zero replicas, where a controller before 1.36 reads the metrics even if it did not scale the workload to zero. Pods and
// Resource metrics, which need data about single pods, are not implemented.
package hpa

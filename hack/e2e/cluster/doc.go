// Package cluster brings a whole Kubernetes up on loopback, of real parts that run as processes: etcd, kube-apiserver,
// kube-controller-manager with the real HPA controller, kube-scheduler, Prometheus, forewarm and, where wanted, KEDA.
// Only the nodes are not there: kwok stands in for their kubelets, so that pods start as slowly as an annotation says.
//
// Everything listens on 127.0.0.1, writes below one folder, and ends with Stop.
package cluster

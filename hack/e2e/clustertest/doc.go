// Package clustertest starts a complete Kubernetes on loopback, of real components that run as processes: etcd,
// kube-apiserver, kube-controller-manager with the real HPA controller, kube-scheduler, Prometheus, Forewarm and,
// optionally, KEDA. Only the nodes are simulated: kwok replaces their kubelets, and a pod's annotation sets its start
// time.
//
// Everything listens on 127.0.0.1, writes to one folder, and ends with Stop.
package clustertest

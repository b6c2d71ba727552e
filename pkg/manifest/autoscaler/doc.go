// Package autoscaler reads a HorizontalPodAutoscaler or a KEDA ScaledObject: which Forecast each of its metrics names, and
// the hpa.Spec by which it makes replicas of the value. Out of all that name a Forecast it then chooses those that its
// objective is calibrated for.
//
// Of an autoscaler with several metrics only the one that reads the Forecast counts. The others cannot be foreseen here,
// and the largest proposal wins: they can only add replicas to what the Forecast's metric asks for.
//
// # What cannot be read
//
// The flags of the kube-controller-manager that runs an autoscaler (tolerance, scale-down stabilization) are not in the
// API. They are taken to be the defaults of hpa.DefaultCluster. A behavior that says both is independent of them.
//
// # Asleep
//
// A workload that may scale to zero is taken to keep a replica. How late the first requests are after a sleep is the matter
// of what wakes it, and no margin mends it; the replica that sleeps is one more in the accounts than is paid for. So it is
// with minReplicas: 0, and with KEDA, which scales between minReplicaCount and maxReplicaCount by a HorizontalPodAutoscaler
// that it makes (whose least is 1), and between 0 or idleReplicaCount and there by itself, by whether the scaler is active.
//
// KEDA's HorizontalPodAutoscaler is passed over: its ScaledObject counts. So are KEDA's annotations that pause: what is
// learnt is for the time after.
package autoscaler

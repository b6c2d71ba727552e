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
// # KEDA
//
// KEDA scales between minReplicaCount and maxReplicaCount by a HorizontalPodAutoscaler that it makes; between 0 (or
// idleReplicaCount) and there it scales itself, by whether the scaler is active. The value is read by the former, so the
// Spec is that of KEDA's HorizontalPodAutoscaler, whose least is 1. The time asleep is in no account: the replica that
// sleeps is one more than is paid for, and how late the first requests are after a sleep is the activation's matter. KEDA's
// HorizontalPodAutoscaler itself is passed over. So are KEDA's annotations that pause: what is learnt is for the time after.
package autoscaler

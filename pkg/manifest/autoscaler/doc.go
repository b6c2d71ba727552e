// Package autoscaler reads HorizontalPodAutoscalers and KEDA ScaledObjects, from a cluster and from files, into an [hpa.Autoscaler].
// [References] tells which Forecasts its metrics name. Package manifest chooses from them those that an objective is calibrated for.
//
// Of an autoscaler with several metrics, only the one that reads the Forecast counts. The others are read and not used.
// The largest proposal wins, so they can only add replicas.
//
// # Unknown flags
//
// The flags of the kube-controller-manager (tolerance, scale-down stabilization) are not in the API. The defaults of
// hpa.DefaultCluster are assumed. A behavior with both fields is independent of them.
//
// # Scaled to zero
//
// A workload that may scale to zero is assumed to keep one replica. The lateness of the first requests after zero
// depends on what scales it up, and no headroom reduces it. The cost is overestimated by this one replica. This holds
// for minReplicas: 0 and for KEDA: it scales between minReplicaCount and maxReplicaCount by a HorizontalPodAutoscaler
// that it creates (with a minimum of 1 at least), and between there and 0 or idleReplicaCount by itself, while the
// scaler is active or not.
//
// KEDA's HorizontalPodAutoscaler is skipped: its ScaledObject counts. KEDA's pause annotations are ignored: the
// calibration is for the time after the pause.
package autoscaler

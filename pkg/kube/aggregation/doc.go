// Package aggregation makes Forewarm an aggregated API server. It manages the API groups, and the certificates with which the
// kube-apiserver verifies Forewarm.
//
// Groups watches which services own the metrics API groups of a cluster. A group like external.metrics.k8s.io has one owner: the
// server behind its APIService. KEDA's chart installs such an APIService, and any manifest that is applied later takes the group
// without a warning. Forewarm takes a group only if no other server has it. It reports the owners in the status of every Forecast, and
// reports changes with an event and a log line. It writes its certificates into the APIServices that lead to Forewarm, so that the
// kube-apiserver can verify it:
//
//	Secret ──> Secret: each adapter replica watches it, the leader renews it (secret.go)
//	       ──> Authority: the certificates and keys in it, the newest first (authority.go)
//	       ──> Leaf: each replica signs a serving certificate for itself, and again before it ends (leaf.go)
//	       ──> Groups.Hold: the leader writes the certificates into the APIServices
//
// Only the Secret is shared: the key of a leaf never leaves the process that created it.
//
// A new certificate is trusted before it signs. It is created when a third of the newest one's lifetime is left, and signs when a
// sixth is left. Until then it is only written into the APIServices. An old certificate is trusted until it expires. So replicas and
// kube-apiservers can notice a change in any order.
package aggregation

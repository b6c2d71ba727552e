// Package aggregation makes Forewarm an aggregated API server: it holds the API groups, and the certificates by which the
// kube-apiserver verifies it.
//
// Groups watches which services own the metrics API groups of a cluster. A group like external.metrics.k8s.io has one owner, the
// server behind its APIService. KEDA's chart owns this one, and any manifest that is applied later takes it without a warning. Forewarm
// takes a group only where nobody holds it. It reports the owners in every Forecast's status, and changes by an event and a log line.
// Into the APIServices that lead here it writes by which certificates the kube-apiserver verifies Forewarm:
//
//	Secret ──> Secret: each adapter replica watches it, the leader renews it (secret.go)
//	       ──> Authority: the certificates and keys in it, the newest first (authority.go)
//	       ──> Leaf: each replica signs a serving certificate for itself, and again before it ends (leaf.go)
//	       ──> Groups.Hold: the leader writes the certificates into the APIServices
//
// Nothing is shared but the Secret: a leaf's key never leaves the process that made it.
//
// A new certificate is trusted before it signs. It is made when a third of the newest one's lifetime is left, and signs when a
// sixth is left; until then it is only written into the APIServices. An old one is trusted until it ends. So every order in
// which replicas and kube-apiservers notice a change is safe.
package aggregation

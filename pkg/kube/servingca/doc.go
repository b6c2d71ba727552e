// Package servingca has the certificate authority by which the kube-apiserver verifies Forewarm.
//
//	Secret ──> Secret: each adapter replica watches it, the leader renews it (secret.go)
//	       ──> Authority: the certificates and keys in it, the newest first (authority.go)
//	       ──> Leaf: each replica signs a serving certificate for itself, and again before it ends (leaf.go)
//	       ──> apiservices.Watch.Trust: the leader writes the certificates into the APIServices
//
// Nothing is shared but the Secret: a leaf's key never leaves the process that made it.
//
// A new certificate is trusted before it signs. It is made when a third of the newest one's lifetime is left, and signs when a
// sixth is left; until then it is only written into the APIServices. An old one is trusted until it ends. So every order in
// which replicas and kube-apiservers notice a change is safe.
package servingca

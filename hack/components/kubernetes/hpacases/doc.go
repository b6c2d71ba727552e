// Package hpacases records what the real HPA controller does, for pkg/core/hpa to be held against: its tests replay the
// recording, so that they need no Kubernetes. The controller runs whole, from its informer to the scale it writes, on a
// clock of its own (testing/synctest), so that hours of syncs take seconds; generated specs and readings drive it.
//
//	go test ./hpacases            # does the committed recording still say what the controller does?
//	go test ./hpacases -write     # make it anew, after a new version of Kubernetes
package hpacases

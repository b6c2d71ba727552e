// Package hpacases records what the real HPA controller does. The tests of pkg/core/hpa replay the recording, so that
// they need no Kubernetes. The whole controller runs, from its informer to the scale it writes, on a clock of its own
// (testing/synctest), so that hours of syncs take seconds. Generated specs and readings drive it.
//
//	go test ./hpacases            # checks that the committed recording is what the controller does
//	go test ./hpacases -write     # writes the recording, after a new version of Kubernetes
package hpacases

// Package e2e holds the scenarios in which forewarm proves itself on a whole control plane (package cluster), each
// asserting on what the cluster does. `make e2e` runs them; they skip where FOREWARM_E2E is unset, because the first
// build of what they run takes long.
package e2e

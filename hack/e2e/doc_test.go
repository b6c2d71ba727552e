// Package e2e tests Forewarm on a complete control plane (package clustertest). Each scenario asserts on what the cluster
// does. `make e2e` runs them. They are skipped where FOREWARM_E2E is unset, because the first build of the components
// takes long.
package e2e_test

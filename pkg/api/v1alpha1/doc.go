// +kubebuilder:object:generate=true
// +groupName=forewarm.dev
//
// These are what controller-gen goes by.

// Package v1alpha1 holds the objects that users write, group forewarm.dev: a Forecast names a workload and the signal of
// its demand, and says how much of that demand may be late. The same YAML is read from a cluster and from a folder.
//
// The schema of the CustomResourceDefinition checks what can be checked alone (durations, ranges, exactly one of two
// fields); package manifest checks everything, for both places, and fills in the defaults.
package v1alpha1

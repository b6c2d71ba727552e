// +kubebuilder:object:generate=true
// +groupName=forewarm.dev
//
// controller-gen reads these markers.

// Package v1alpha1 contains the objects that users write, in the API group forewarm.dev. A Forecast, for example, says
// which workload to scale, where to read its demand, and how much of that demand is allowed to be late. Forewarm reads
// the same YAML from a cluster and from a folder.
//
// The schema of the CustomResourceDefinition checks what it can check on its own: durations, ranges, and that exactly one
// of two fields is set. Package manifest checks everything, for both places, and fills in the defaults.
package v1alpha1

// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.forewarm.inspect.v1alpha1
// +groupName=inspect.forewarm.dev
//
// These are what controller-gen and openapi-gen go by.

// Package v1alpha1 is the inspection API inspect.forewarm.dev/v1alpha1: an Outlook for each Forecast, with what is
// observed, what is served and why, the path ahead and what past forecasts were worth. Outlooks are read only and live in
// memory; they are served by forewarm itself, as an aggregated API or on loopback.
package v1alpha1

//go:generate ../../../../hack/generate-inspect.sh

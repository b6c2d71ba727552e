// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.forewarm.inspect.v1alpha1
// +groupName=inspect.forewarm.dev
//
// controller-gen and openapi-gen read these markers.

// Package v1alpha1 is the inspection API inspect.forewarm.dev/v1alpha1. It has an Outlook for each Forecast: the observed
// demand, the served value and the reason for it, the forecast path, and how good past forecasts were. It has a FleetOutlook
// for each GPUFleet. Outlooks are read-only and exist only in memory. Forewarm serves them itself, as an aggregated API or on loopback.
package v1alpha1

//go:generate ../../../../hack/generate-inspect.sh

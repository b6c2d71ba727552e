package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the objects.
const GroupName = "forewarm.dev"

// ForecastKind is the kind of a Forecast as YAML writes it.
const ForecastKind = "Forecast"

// WarmPoolKind is the kind of a WarmPool.
const WarmPoolKind = "WarmPool"

// DemandEventKind is the kind of a DemandEvent.
const DemandEventKind = "DemandEvent"

// GPUFleetKind is the kind of a GPUFleet.
const GPUFleetKind = "GPUFleet"

// GroupVersion is the group and the version of this package's objects.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}
}

// AddToScheme makes a scheme know the objects.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &Forecast{}, &ForecastList{}, &WarmPool{}, &WarmPoolList{},
		&DemandEvent{}, &DemandEventList{}, &GPUFleet{}, &GPUFleetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}

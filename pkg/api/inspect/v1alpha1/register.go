package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// GroupName of the inspection API.
	GroupName = "inspect.forewarm.dev"
	// Version of the inspection API.
	Version = "v1alpha1"
	// Resource is the plural name under which outlooks are served.
	Resource = "outlooks"
	// Kind of one outlook.
	Kind = "Outlook"
)

// GroupVersion is the group and version of this package's kinds.
func GroupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: GroupName, Version: Version}
}

// AddToScheme registers the kinds of this package, so that a client can decode them.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion(), &Outlook{}, &OutlookList{}, &FleetOutlook{}, &FleetOutlookList{})
	metav1.AddToGroupVersion(scheme, GroupVersion())
	return nil
}

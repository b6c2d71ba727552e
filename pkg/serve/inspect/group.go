package inspect

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// Scheme has the kinds of the inspection API and those that every API server needs.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := scheme.SetVersionPriority(v1alpha1.GroupVersion()); err != nil {
		return nil, err
	}
	return scheme, nil
}

// Group is the inspection API of the stores, to be installed on a generic API server. The age of data is measured by
// now; access decides who may list. Without fleets, which may be nil, it has none.
func Group(
	scheme *runtime.Scheme, snapshots *snapshot.Store, fleets *fleet.Store, now func() time.Time,
	access authorizer.UnconditionalAuthorizer,
) *genericapiserver.APIGroupInfo {
	codecs := serializer.NewCodecFactory(scheme)
	info := genericapiserver.NewDefaultAPIGroupInfo(
		v1alpha1.GroupName, scheme, runtime.NewParameterCodec(scheme), codecs)
	info.NegotiatedSerializer = readable{info.NegotiatedSerializer}
	outlooks := &storage{snapshots: snapshots, now: now}
	all := map[string]rest.Storage{
		v1alpha1.Resource:                outlooks,
		v1alpha1.Resource + "/plot":      &document{outlooks, "image/svg+xml", renderPlot},
		v1alpha1.Resource + "/page":      &document{outlooks, htmlType, renderPage},
		v1alpha1.Resource + "/frontpage": &frontPages{document{storage: outlooks}, access},
	}
	if fleets != nil {
		served := &fleetStorage{fleets: fleets, now: now}
		all[v1alpha1.FleetResource] = served
		all[v1alpha1.FleetResource+"/page"] = &fleetPage{fleets: served}
	}
	info.VersionedResourcesStorageMap[v1alpha1.Version] = all
	return &info
}

// readable offers only JSON and YAML. Outlooks have no protobuf form, and a client that prefers protobuf would otherwise be rejected.
type readable struct {
	runtime.NegotiatedSerializer
}

// SupportedMediaTypes are JSON and YAML.
func (r readable) SupportedMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(r.NegotiatedSerializer.SupportedMediaTypes()),
		func(info runtime.SerializerInfo) bool {
			return info.MediaType != runtime.ContentTypeJSON && info.MediaType != runtime.ContentTypeYAML
		})
}

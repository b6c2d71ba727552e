package inspect

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

var (
	_ rest.Storage              = (*storage)(nil)
	_ rest.Getter               = (*storage)(nil)
	_ rest.Lister               = (*storage)(nil)
	_ rest.Scoper               = (*storage)(nil)
	_ rest.SingularNameProvider = (*storage)(nil)
	_ rest.ShortNamesProvider   = (*storage)(nil)
	_ rest.CategoriesProvider   = (*storage)(nil)
)

// storage serves outlooks from the store.
type storage struct {
	snapshots *snapshot.Store
	now       func() time.Time
}

// New is an empty outlook.
func (*storage) New() runtime.Object { return &v1alpha1.Outlook{} }

// NewList is an empty list of outlooks.
func (*storage) NewList() runtime.Object { return &v1alpha1.OutlookList{} }

// Destroy releases nothing.
func (*storage) Destroy() {}

// NamespaceScoped is true: an outlook has the namespace of its Forecast.
func (*storage) NamespaceScoped() bool { return true }

// GetSingularName is the singular name for kubectl.
func (*storage) GetSingularName() string { return "outlook" }

// ShortNames are the short names for kubectl.
func (*storage) ShortNames() []string { return []string{"ol"} }

// Categories are those of outlooks: kubectl get forewarm.
func (*storage) Categories() []string { return []string{"forewarm"} }

// Get is one outlook in full.
func (s *storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	entry, err := s.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	outlook := Outlook(entry, s.now())
	return &outlook, nil
}

// List is the outlooks of a namespace, or of all, that the selectors match; with a limit, one part at a time.
func (s *storage) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	newest := s.snapshots.Load()
	if newest == nil {
		return nil, noData()
	}
	if options == nil {
		options = &internalversion.ListOptions{}
	}
	return listPage(newest.Entries(request.NamespaceValue(ctx)), options, s.now())
}

func (s *storage) entry(ctx context.Context, name string) (*snapshot.ForecastSnapshot, error) {
	newest := s.snapshots.Load()
	if newest == nil {
		return nil, noData()
	}
	entry := newest.Get(snapshot.Key{Namespace: request.NamespaceValue(ctx), Name: name})
	if entry == nil {
		return nil, apierrors.NewNotFound(
			schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.Resource}, name)
	}
	return entry, nil
}

func noData() error {
	return apierrors.NewServiceUnavailable("Forewarm has no data yet: the first refresh is in progress, try again")
}

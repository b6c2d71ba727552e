package inspect

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const htmlType = "text/html; charset=utf-8"

// FrontPage is the page that lists the Forecasts of a namespace; of all namespaces where it is empty.
func FrontPage(snapshots *snapshot.Store, namespace string, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		newest := snapshots.Load()
		if newest == nil {
			http.Error(w, noData().Error(), http.StatusServiceUnavailable)
			return
		}
		body, err := renderFrontPage(newest.Entries(namespace), namespace, now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeDocument(w, htmlType, body)
	})
}

// frontPages are the sub-resource that lists the Forecasts of a namespace: outlooks/-/frontpage, a name that no Forecast
// can have.
//
// To read it is a right of its own: get of outlooks/frontpage. That right may come from a rule for this name or for all
// sub-resources, by which nobody meant to grant a list. So the user must have the right to list the outlooks of the
// namespace, too.
type frontPages struct {
	document

	access authorizer.UnconditionalAuthorizer
}

// Connect renders the front page of the namespace.
func (f *frontPages) Connect(
	ctx context.Context, name string, _ runtime.Object, _ rest.Responder,
) (http.Handler, error) {
	resource := schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.Resource}
	if name != "-" {
		resource.Resource += "/frontpage"
		return nil, apierrors.NewNotFound(resource, name)
	}
	user, _ := request.UserFrom(ctx)
	namespace := request.NamespaceValue(ctx)
	list := authorizer.AttributesRecord{
		User: user, Verb: "list", Namespace: namespace, ResourceRequest: true,
		APIGroup: v1alpha1.GroupName, APIVersion: v1alpha1.Version, Resource: v1alpha1.Resource,
	}
	if decision, _, err := f.access.Authorize(ctx, list); decision != authorizer.DecisionAllow {
		return nil, apierrors.NewForbidden(resource, "",
			errors.Join(errors.New("the front page needs the right to list, too"), err))
	}
	return FrontPage(f.storage.snapshots, namespace, f.storage.now), nil
}

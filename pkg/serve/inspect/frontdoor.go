package inspect

import (
	"context"
	"errors"
	"fmt"
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

// frontName is the name in the path of a namespace's front page, outlooks/-/frontpage. No Forecast can have it.
const frontName = "-"

// FrontPage is the page that lists the Forecasts of all namespaces, for a server whose users may read everything.
func FrontPage(board *snapshot.Board, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		newest := board.Load()
		if newest == nil {
			http.Error(w, noData().Error(), http.StatusServiceUnavailable)
			return
		}
		body, err := renderFrontPage(newest.Entries(""), "", now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeDocument(w, htmlType, body)
	})
}

// frontPages are the sub-resource that lists the Forecasts of a namespace.
//
// To read it is a right of its own: get of outlooks/frontpage. A sub-resource needs a name, and its right may come from a
// rule for that name or for all sub-resources, by which nobody meant to grant a list. So whoever reads the page must have
// the right to list the outlooks of the namespace, too.
type frontPages struct {
	document

	access authorizer.UnconditionalAuthorizer
}

// Connect renders the front page of the namespace.
func (f *frontPages) Connect(
	ctx context.Context, name string, _ runtime.Object, responder rest.Responder,
) (http.Handler, error) {
	if name != frontName {
		err := apierrors.NewNotFound(outlooksResource(), name)
		err.ErrStatus.Message = fmt.Sprintf("the front page is %s/%s/frontpage", v1alpha1.Resource, frontName)
		return nil, err
	}
	namespace := request.NamespaceValue(ctx)
	if err := f.mayList(ctx, namespace); err != nil {
		return nil, err
	}
	newest, now := f.storage.board.Load(), f.storage.now()
	if newest == nil {
		return nil, noData()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, err := renderFrontPage(newest.Entries(namespace), namespace, now)
		if err != nil {
			responder.Error(err)
			return
		}
		writeDocument(w, f.contentType, body)
	}), nil
}

// mayList returns an error unless the user may list the outlooks of the namespace.
func (f *frontPages) mayList(ctx context.Context, namespace string) error {
	user, ok := request.UserFrom(ctx)
	if !ok {
		return apierrors.NewUnauthorized("the request has no user")
	}
	decision, _, err := f.access.Authorize(ctx, authorizer.AttributesRecord{
		User: user, Verb: "list", Namespace: namespace, ResourceRequest: true,
		APIGroup: v1alpha1.GroupName, APIVersion: v1alpha1.Version, Resource: v1alpha1.Resource,
	})
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return apierrors.NewInternalError(err)
	}
	return apierrors.NewForbidden(outlooksResource(), "", errors.New("the front page needs the right to list outlooks, too"))
}

func outlooksResource() schema.GroupResource {
	return schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.Resource}
}

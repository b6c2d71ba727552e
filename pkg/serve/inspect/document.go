package inspect

import (
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// contentSecurityPolicy forbids scripts, forms, frames and every outside resource.
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

var (
	_ rest.Connecter = (*document)(nil)
	_ rest.Scoper    = (*document)(nil)
)

// document is a sub-resource for browsers. It is a Connecter because a streamed resource would answer 406 to a
// browser's Accept header.
type document struct {
	storage     *storage
	contentType string
	render      func(outlook *v1alpha1.Outlook, now time.Time) ([]byte, error)
}

// New is an empty outlook, the parent of the sub-resource.
func (*document) New() runtime.Object { return &v1alpha1.Outlook{} }

// Destroy has nothing to release.
func (*document) Destroy() {}

// NamespaceScoped is true, as for outlooks.
func (*document) NamespaceScoped() bool { return true }

// ConnectMethods is GET only.
func (*document) ConnectMethods() []string { return []string{http.MethodGet} }

// NewConnectOptions returns none.
func (*document) NewConnectOptions() (options runtime.Object, hasPath bool, pathKey string) {
	return nil, false, ""
}

// Connect renders the outlook.
func (d *document) Connect(
	ctx context.Context, name string, _ runtime.Object, responder rest.Responder,
) (http.Handler, error) {
	entry, err := d.storage.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	now := d.storage.now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		outlook := Outlook(entry, now)
		body, err := d.render(&outlook, now)
		if err != nil {
			responder.Error(err)
			return
		}
		writeDocument(w, d.contentType, body)
	}), nil
}

// writeDocument writes what a browser shows but does not run.
func writeDocument(w http.ResponseWriter, contentType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) //nolint:errcheck // The client has disconnected.
}

package apiserver

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxURL is longer than the longest that is answered: two selectors, escaped, and some names.
const maxURL = 8 << 10

// readOnly refuses what this server never does, before it costs anything: the library would have the cluster review a
// client, and hold the client's body meanwhile, before it said that there is nothing to write here.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			reject(w, r, http.StatusMethodNotAllowed, "this server is read only")
		case r.ContentLength != 0:
			reject(w, r, http.StatusRequestEntityTooLarge, "no request here has a body")
		case len(r.RequestURI) > maxURL:
			reject(w, r, http.StatusRequestURITooLong, "the URL is longer than 8 KiB")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// reject refuses a request whose body, if it has one, is not waited for.
func reject(w http.ResponseWriter, r *http.Request, code int, why string) {
	if r.ContentLength != 0 &&
		r.ProtoMajor == 1 { // HTTP/2 resets the stream by itself; its connection has other clients, too.
		w.Header().Set("Connection", "close")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) //nolint:errcheck // A recorder has none.
	status := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", why, 0, false)
	status.ErrStatus.Message = why
	refuse(w, status)
}

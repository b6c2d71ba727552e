package serve

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxURL is above the length of any URL that is answered: two escaped selectors and some names.
const maxURL = 8 << 10

// readOnly refuses writes before they cost anything: the library would first have the cluster review the client, and
// hold the client's body meanwhile.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			rejectUnread(w, r, http.StatusMethodNotAllowed, "this server is read only")
		case r.ContentLength != 0:
			rejectUnread(w, r, http.StatusRequestEntityTooLarge, "this server accepts no request with a body")
		case len(r.RequestURI) > maxURL:
			rejectUnread(w, r, http.StatusRequestURITooLong, "the URL is longer than 8 KiB")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// rejectUnread refuses a request without waiting for its body.
func rejectUnread(w http.ResponseWriter, r *http.Request, code int, why string) {
	if r.ContentLength != 0 &&
		r.ProtoMajor == 1 { // HTTP/2 resets the stream only; its connection has other requests.
		w.Header().Set("Connection", "close")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) //nolint:errcheck // A recorder has none.
	status := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", why, 0, false)
	status.ErrStatus.Message = why
	writeStatus(w, status)
}

package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forewarm/forewarm/pkg/run"
)

// maxURL limits the length of a URL. Two escaped selectors and some names fit.
const maxURL = 8 << 10

// readOnly rejects writes before they cost anything. The library would first let the cluster review the client, and would hold the client's
// body in the meantime.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		growStack(len(r.RequestURI))
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			rejectUnread(w, r, http.StatusMethodNotAllowed, "this server is read-only")
		case r.ContentLength != 0:
			rejectUnread(w, r, http.StatusRequestEntityTooLarge, "this server does not accept requests with a body")
		case len(r.RequestURI) > maxURL:
			rejectUnread(w, r, http.StatusRequestURITooLong, "the URL is longer than 8 KiB")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// rejectUnread rejects a request without waiting for its body.
func rejectUnread(w http.ResponseWriter, r *http.Request, code int, why string) {
	if r.ContentLength != 0 &&
		r.ProtoMajor == 1 { // HTTP/2 resets only the stream; the connection has other requests.
		w.Header().Set("Connection", "close")
	}
	_ = http.NewResponseController(w).SetReadDeadline(run.WallClock{}.Now()) //nolint:errcheck // A recorder has none.
	status := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", why, 0, false)
	status.ErrStatus.Message = why
	writeStatus(w, status)
}

// maxSelector limits the length of a selector, in bytes. A selector with all of our keys has about a hundred.
const maxSelector = 1000

// plainQuery rejects queries that the handlers would misread and so answer with the wrong value, or would repeat in full: a query that
// cannot be unescaped (net/http drops it), a query with a NUL (the selector parser stops there), and an invalid selector.
func plainQuery(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkQuery(r.URL.RawQuery); err != nil {
			writeStatus(w, apierrors.NewBadRequest(err.Error()))
			return
		}
		api.ServeHTTP(w, r)
	})
}

// writeStatus answers with a Status, as Kubernetes APIs do.
func writeStatus(w http.ResponseWriter, why *apierrors.StatusError) {
	status := why.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	json.NewEncoder(w).Encode(status) //nolint:errcheck,errchkjson // The client is gone.
}

// checkQuery says what is wrong with a query. The error repeats only a little of the query.
func checkQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("the query cannot be unescaped: %.100q", err.Error())
	}
	for _, key := range []string{"labelSelector", "metricLabelSelector"} {
		for _, selector := range query[key] {
			if len(selector) > maxSelector {
				return fmt.Errorf("%s has %d bytes: use at most %d bytes", key, len(selector), maxSelector)
			}
			if strings.ContainsFunc(selector, unicode.IsControl) {
				return fmt.Errorf("%s %.32q contains control characters", key, selector)
			}
			if _, err := labels.Parse(selector); err != nil {
				return fmt.Errorf("%s %.32q is not a selector: write for example quantile=0.99", key, selector)
			}
		}
	}
	return nil
}

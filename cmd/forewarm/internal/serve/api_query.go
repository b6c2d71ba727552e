package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
)

// maxSelector is the longest selector that is read, in bytes; one with every key of ours has a hundred.
const maxSelector = 1000

// plainQuery refuses a query that the handlers would misread, and so answer with the wrong value, or would repeat
// whole: one that cannot be unescaped (net/http drops it), a NUL (the selectors' parser ends there), and an invalid
// selector.
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

// checkQuery returns what is wrong with a query. The error repeats little of it.
func checkQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("the query cannot be unescaped: %.100q", err.Error())
	}
	for _, key := range []string{"labelSelector", "metricLabelSelector"} {
		for _, selector := range query[key] {
			if len(selector) > maxSelector {
				return fmt.Errorf("%s has %d bytes: write at most %d", key, len(selector), maxSelector)
			}
			if strings.ContainsFunc(selector, unicode.IsControl) {
				return fmt.Errorf("%s %.32q has control characters", key, selector)
			}
			if _, err := labels.Parse(selector); err != nil {
				return fmt.Errorf("%s %.32q is not a selector: write for example quantile=0.99", key, selector)
			}
		}
	}
	return nil
}

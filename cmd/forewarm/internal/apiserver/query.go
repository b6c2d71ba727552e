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
)

// maxSelector is the longest selector that is read, in bytes; one with every key of ours has a hundred.
const maxSelector = 1000

// plainQuery refuses a query that the handlers behind would take for another one, and so answer with a value that nobody asked
// for, or would repeat whole: what cannot be unescaped (net/http leaves it out), a NUL (to the selectors' parser it is the end),
// and what is no selector.
func plainQuery(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkQuery(r.URL.RawQuery); err != nil {
			refuse(w, apierrors.NewBadRequest(err.Error()))
			return
		}
		api.ServeHTTP(w, r)
	})
}

// refuse answers as the API does.
func refuse(w http.ResponseWriter, why *apierrors.StatusError) {
	status := why.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	json.NewEncoder(w).Encode(status) //nolint:errcheck,errchkjson // Who has hung up is told nothing.
}

// checkQuery says what is wrong with a query, with no more than a few words of it.
func checkQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("the query cannot be unescaped: %.100q", err.Error())
	}
	for _, key := range []string{"labelSelector", "metricLabelSelector"} {
		for _, selector := range query[key] {
			if len(selector) > maxSelector {
				return fmt.Errorf("%s has %d bytes, want %d at most", key, len(selector), maxSelector)
			}
			if strings.ContainsFunc(selector, unicode.IsControl) {
				return fmt.Errorf("%s %.32q has control characters", key, selector)
			}
			if _, err := labels.Parse(selector); err != nil {
				return fmt.Errorf("%s %.32q is no selector, write for example quantile=0.99", key, selector)
			}
		}
	}
	return nil
}

package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// Whatever the query of a request is, the API's handlers read it as it was meant, or it is a short 400.
func FuzzPlainQuery(f *testing.F) {
	for _, query := range []string{
		"", "labelSelector=quantile%3D0.99", "labelSelector=a%3Db&metricLabelSelector=horizon%3D5m", "labelSelector=%zz",
		"labelSelector=a%00b", "labelSelector=quantile%20in%20(0.5%2C0.9)", "a;b", "labelSelector=%21", "=&=&",
		"labelSelector=a%3Db&labelSelector=%07", "LabelSelector=%00",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		var passed url.Values
		handler := apiserver.PlainQuery(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			passed = r.URL.Query()
		}))
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, &http.Request{URL: &url.URL{Path: "/apis", RawQuery: query}})
		if passed == nil {
			if w.Code != http.StatusBadRequest || w.Body.Len() > 600 {
				t.Fatalf("%q: %d with %d bytes: %s", query, w.Code, w.Body.Len(), w.Body)
			}
			return
		}
		whole, err := url.ParseQuery(query)
		if err != nil || whole.Encode() != passed.Encode() {
			t.Fatalf("%q passes as %v, %v", query, passed, err)
		}
		for _, key := range []string{"labelSelector", "metricLabelSelector"} {
			for _, selector := range passed[key] {
				if _, err := labels.Parse(selector); err != nil || strings.ContainsFunc(selector, unicode.IsControl) {
					t.Fatalf("%q passes with the selector %q, %v", query, selector, err)
				}
			}
		}
	})
}

package apiserver

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	endpointmetrics "k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
)

// selectors caches queries that consist of a valid labelSelector, with the parsed selector. An HPA sends the same selector for its whole
// life. The library parses it four times for each request, which takes a fifth of the CPU time.
type selectors struct{ parsed *cache.LRUExpireCache }

const (
	// maxSelectors is more than the number of HPAs in most clusters. Further selectors are parsed at each request.
	maxSelectors = 4096
	// maxKnown is the maximum length of a cached query, in bytes. With the most expensive queries of this length, the cache takes about 40 MB.
	maxKnown = 200
	// selectorsKept is much longer than any HPA's sync period. The meaning of a query never changes; the limit only makes room.
	selectorsKept = time.Hour
)

func newSelectors() selectors { return selectors{cache.NewLRUExpireCache(maxSelectors)} }

// find returns the selector of a query that is empty or in the cache. The library reads all other queries.
func (s selectors) find(raw string) (selector labels.Selector, ok bool) {
	if raw == "" {
		return labels.Everything(), true
	}
	known, _ := s.parsed.Get(raw)
	selector, ok = known.(labels.Selector)
	return selector, ok
}

// add caches a query that consists of a labelSelector. Only authorized requests may call it, because others must not fill the memory.
func (s selectors) add(raw string) {
	if _, known := s.find(raw); known || len(raw) > maxKnown {
		return
	}
	query, err := url.ParseQuery(raw)
	if err != nil || len(query) != 1 || len(query["labelSelector"]) != 1 || checkQuery(raw) != nil {
		return
	}
	if selector, err := labels.Parse(query.Get("labelSelector")); err == nil {
		s.parsed.Add(raw, selector, selectorsKept)
	}
}

// withoutSelectors leaves selectors out of the authorization. Otherwise a metric's selector would be part of the SubjectAccessReview and of
// the cache key, and each selector would need its own review. A selector only narrows a grant, so leaving it out never allows more than the
// user may read without a selector.
type withoutSelectors struct {
	request.RequestInfoResolver

	known selectors
}

// NewRequestInfo implements request.RequestInfoResolver. It says of a query that is known to be a lone labelSelector what it
// says of none.
func (w withoutSelectors) NewRequestInfo(r *http.Request) (*request.RequestInfo, error) {
	if _, ok := w.known.find(r.URL.RawQuery); ok {
		r = &http.Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path}}
	}
	info, err := w.RequestInfoResolver.NewRequestInfo(r)
	if info != nil {
		info.LabelSelector, info.FieldSelector = "", ""
	}
	return info, err
}

// plain reports whether a request is an HPA's GET of one external metric, and returns its selector. It accepts only queries and Accept
// headers that the library's router and decoder interpret in the same way.
func (s selectors) plain(r *http.Request, info *request.RequestInfo) (selector labels.Selector, ok bool) {
	group := v1beta1.SchemeGroupVersion
	if r.Method != http.MethodGet || info == nil || info.APIGroup != group.Group || info.APIVersion != group.Version ||
		r.URL.Path != "/apis/external.metrics.k8s.io/v1beta1/namespaces/"+info.Namespace+"/"+info.Resource ||
		!accepts(r.Header.Get("Accept")) {
		return nil, false
	}
	return s.find(r.URL.RawQuery)
}

// externalMetrics answers an HPA's GET of one external metric in the same way as the library, but without the library's router and option
// decoder, which take a sixth of the request's CPU time. All other requests, and requests without a value, go to the library.
func externalMetrics(metrics provider.ExternalMetricsProvider, known selectors, library http.Handler) http.Handler {
	group := v1beta1.SchemeGroupVersion
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known.add(r.URL.RawQuery)
		info, _ := request.RequestInfoFrom(r.Context())
		selector, ok := known.plain(r, info)
		if !ok {
			library.ServeHTTP(w, r)
			return
		}
		of := provider.ExternalMetricInfo{Metric: info.Resource}
		list, err := metrics.GetExternalMetric(r.Context(), info.Namespace, selector, of)
		if err != nil {
			library.ServeHTTP(w, r)
			return
		}
		write := func(w http.ResponseWriter, r *http.Request) {
			restrictions, ok := negotiation.DefaultEndpointRestrictions, http.StatusOK
			responsewriters.WriteObjectNegotiated(adapter.Codecs, restrictions, group, w, r, ok, list, false)
		}
		counted := endpointmetrics.InstrumentHandlerFunc(
			"LIST", group.Group, group.Version, "*", "*", "cluster", "external-metrics", false, "", write,
		)
		counted(w, r)
	})
}

// accepts reports whether a client accepts the format that is served to HPAs. It returns true only for headers with an unambiguous meaning,
// because the library's router rejects some headers that its negotiation would accept.
func accepts(header string) bool {
	if header == "" || strings.Contains(header, ";") {
		return header == ""
	}
	for kind := range strings.SplitSeq(header, ",") {
		switch strings.TrimSpace(kind) {
		case "*/*", runtime.ContentTypeJSON, runtime.ContentTypeProtobuf:
			return true
		}
	}
	return false
}

package apiserver

import (
	"net/http"
	"strings"
)

// plainDiscovery answers discovery group by group only. The metrics library keeps its groups out of the aggregated
// document, so that a client that reads it (client-go, and the kube-apiserver on behalf of kubectl) would see the
// inspection group alone. A client falls back where its Accept leaves it a way; the kube-apiserver does so at a 406.
func plainDiscovery(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept := r.Header.Get("Accept")
		if r.URL.Path != "/apis" || !strings.Contains(accept, aggregated) {
			api.ServeHTTP(w, r)
			return
		}
		var rest []string
		for kind := range strings.SplitSeq(accept, ",") {
			if !strings.Contains(kind, aggregated) {
				rest = append(rest, strings.TrimSpace(kind))
			}
		}
		if len(rest) == 0 {
			http.Error(w, "discovery is answered group by group, as application/json", http.StatusNotAcceptable)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Set("Accept", strings.Join(rest, ","))
		api.ServeHTTP(w, r)
	})
}

// aggregated marks a media type of the aggregated discovery document.
const aggregated = "as=APIGroupDiscoveryList"

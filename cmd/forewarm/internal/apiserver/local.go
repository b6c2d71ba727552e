package apiserver

import (
	"net"
	"net/http"
	"net/netip"
)

// localOnly keeps other sites out of a server that trusts whoever reaches it. A page of another site can make a browser
// resolve that site's own name to 127.0.0.1 (DNS rebinding): the Host then gives it away, 421. And it can post here
// without being able to read the answer: 403. Any port passes, because tunnels change it.
func localOnly(next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(w, "this server answers to 127.0.0.1 and localhost only", http.StatusMisdirectedRequest)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

func isLocal(host string) bool {
	if bare, _, err := net.SplitHostPort(host); err == nil {
		host = bare
	}
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() && address.Zone() == ""
}

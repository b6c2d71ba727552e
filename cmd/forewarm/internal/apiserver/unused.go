package apiserver

import (
	"net"
	"net/http"
	"sync"
)

// unused are the connections on which nothing has been asked yet. Browsers and Go's own client open some in advance, and
// http.Server.Shutdown waits five seconds for a first request on each.
type unused struct {
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// follow is the server's ConnState.
func (u *unused) follow(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.conns, conn)
		return
	}
	if u.conns == nil {
		u.conns = make(map[net.Conn]struct{})
	}
	u.conns[conn] = struct{}{}
}

// close ends them.
func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for conn := range u.conns {
		_ = conn.Close() //nolint:errcheck // The client may have closed it already.
	}
}

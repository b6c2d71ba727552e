package kedaserver_test

import (
	"context"
	"crypto/tls"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// secured is a server with files of its own, whose clients are checked against the given authority.
func secured(t *testing.T, servers, clients *authority) (*running, files) {
	t.Helper()
	f := files{t: t, dir: t.TempDir()}
	f.pair(servers, 100)
	f.write("ca.crt", clients.bundle())
	return start(t, f.options(), ready(), snapshottest.Now), f
}

func TestOnlyCertifiedClientsAreServed(t *testing.T) {
	servers, clients, strangers := newAuthority(t, "servers"), newAuthority(t, "clients"), newAuthority(t, "strangers")
	r, _ := secured(t, servers, clients)
	if err := ask(r.client(servers.client(clients))); err != nil {
		t.Errorf("a client of the authority: %v", err)
	}
	for name, config := range map[string]*tls.Config{
		"a client without a certificate":      servers.client(nil),
		"a client of another authority":       servers.client(strangers),
		"a client of the server's authority":  servers.client(servers),
		"a client without TLS":                nil,
		"a client that trusts another server": strangers.client(clients),
	} {
		if err := ask(r.client(config)); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v, want Unavailable", name, err)
		}
	}
}

// serial is that of the certificate that a new connection meets.
func (r *running) serial(config *tls.Config) int64 {
	r.t.Helper()
	conn, err := (&tls.Dialer{Config: config}).DialContext(r.t.Context(), "tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // Nothing was written.
	secure, ok := conn.(*tls.Conn)
	if !ok {
		r.t.Fatalf("a connection of type %T", conn)
	}
	return secure.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// fresh asks on a connection of its own.
func (r *running) fresh(config *tls.Config) error {
	conn := r.dial(config)
	defer conn.Close() //nolint:errcheck // Read only.
	return ask(pb.NewExternalScalerClient(conn))
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

// load asks without a pause, on one connection that stays and on new ones, until the returned function is called, which
// lets it go on for some requests more.
func (r *running) load(config *tls.Config) (finish func()) {
	r.t.Helper()
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	same := r.client(config)
	for _, request := range []func() error{func() error { return ask(same) }, func() error { return r.fresh(config) }} {
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				if err := request(); err != nil {
					r.t.Errorf("a request failed: %v", err)
					return
				}
				asked.Add(1)
			}
		}()
	}
	return func() {
		r.t.Helper()
		enough := asked.Load() + 20
		eventually(r.t, "20 requests more", func() bool { return asked.Load() >= enough })
		cancel()
		<-done
		<-done
	}
}

// The certificate and the authority of the clients change under load. No request fails, and each new connection is met
// with what the files say.
func TestCertificatesChangeUnderLoad(t *testing.T) {
	servers, old, young := newAuthority(t, "servers"), newAuthority(t, "old"), newAuthority(t, "young")
	r, f := secured(t, servers, old)
	before, after := servers.client(old), servers.client(young)

	finish := r.load(before)
	if got := r.serial(before); got != 100 {
		t.Fatalf("certificate %d, want 100", got)
	}
	f.pair(servers, 200)
	eventually(t, "the new certificate", func() bool { return r.serial(before) == 200 })

	if err := r.fresh(after); status.Code(err) != codes.Unavailable {
		t.Errorf("a client of an authority that is not there yet: %v", err)
	}
	f.write("ca.crt", slices.Concat(old.bundle(), young.bundle()))
	eventually(t, "the second authority", func() bool { return r.fresh(after) == nil })
	finish()

	finish = r.load(after)
	f.write("ca.crt", young.bundle())
	eventually(t, "the end of the old authority",
		func() bool { return status.Code(r.fresh(before)) == codes.Unavailable })

	// What cannot be used changes nothing.
	f.write("tls.crt", []byte("nonsense"))
	f.write("ca.crt", nil)
	time.Sleep(300 * time.Millisecond)
	if got := r.serial(after); got != 200 {
		t.Errorf("certificate %d, want 200 still", got)
	}
	if err := r.fresh(before); status.Code(err) != codes.Unavailable {
		t.Errorf("a client of the old authority: %v", err)
	}
	finish()
}

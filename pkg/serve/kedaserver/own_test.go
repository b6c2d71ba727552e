package kedaserver_test

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

// becoming is an authority that is unknown at first.
type becoming struct {
	mu        sync.Mutex
	bundle    []byte
	listeners []dynamiccertificates.Listener
}

func (*becoming) Name() string { return "becoming" }

func (b *becoming) CurrentCABundleContent() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bundle
}

func (b *becoming) VerifyOptions() (x509.VerifyOptions, bool) {
	roots := x509.NewCertPool()
	ok := roots.AppendCertsFromPEM(b.CurrentCABundleContent())
	return x509.VerifyOptions{Roots: roots}, ok
}

func (b *becoming) AddListener(listener dynamiccertificates.Listener) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(b.listeners, listener)
}

func (b *becoming) become(bundle []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bundle = bundle
	for _, one := range b.listeners {
		one.Enqueue()
	}
}

// Where Forewarm's own authority signs, no one is a client before it is known, not even one that the machine trusts; then its
// clients are, without a restart.
func TestOwnCertificates(t *testing.T) {
	servers, clients := newAuthority(t, "servers"), newAuthority(t, "clients")
	trusted := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(trusted, clients.bundle(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trusted)
	serving, err := dynamiccertificates.NewStaticCertKeyContent(pair(servers))
	if err != nil {
		t.Fatal(err)
	}
	known := &becoming{}
	r := start(t, kedaserver.Config{
		Address: "127.0.0.1:0", Signed: true, Serving: serving, Clients: known,
	}, ready(), snapshottest.Now)
	for range 3 {
		if err := r.fresh(servers.client(clients)); status.Code(err) != codes.Unavailable {
			t.Fatalf("a client before the authority is known: %v, want Unavailable", err)
		}
	}
	known.become(clients.bundle())
	eventually(t, "a client of the authority is served", func() bool { return r.fresh(servers.client(clients)) == nil })
	for name, by := range map[string]*authority{"no certificate": nil, "the server's authority": servers} {
		if err := r.fresh(servers.client(by)); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v, want Unavailable", name, err)
		}
	}
}

func pair(by *authority) (name string, certificate, key []byte) {
	certificate, key = by.issue(100)
	return "own", certificate, key
}

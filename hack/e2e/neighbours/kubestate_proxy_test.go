package neighbours_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// proxy passes connections on to the kube-apiserver. While its gate is locked nothing passes: the client behind it knows only what was
// before, and does not notice.
type proxy struct {
	gate sync.RWMutex
	// kubeconfig is the administrator's, through the proxy.
	kubeconfig string
}

func newProxy(t *testing.T, c *clustertest.Cluster) *proxy {
	t.Helper()
	listener, _, err := processtest.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if closed := listener.Close(); closed != nil {
			t.Error(closed)
		}
	})
	text, err := os.ReadFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(c.Config.Host, "https://")
	p := &proxy{kubeconfig: filepath.Join(c.Dir, "behind.kubeconfig")}
	through := strings.ReplaceAll(string(text), host, listener.Addr().String())
	if err := os.WriteFile(p.kubeconfig, []byte(through), 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // The test is over.
			}
			server, err := new(net.Dialer).DialContext(context.Background(), "tcp", host)
			if err != nil {
				_ = client.Close() //nolint:errcheck // The client tries again.
				continue
			}
			go p.pass(client, server)
			go p.pass(server, client)
		}
	}()
	return p
}

// pass passes on what one side says, until one of them closes.
func (p *proxy) pass(from, to net.Conn) {
	defer to.Close() //nolint:errcheck // The other side has closed.
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || p.write(to, buffer[:n]) != nil {
			return
		}
	}
}

// write waits while the gate is locked.
func (p *proxy) write(to net.Conn, data []byte) error {
	p.gate.RLock()
	defer p.gate.RUnlock()
	_, err := to.Write(data)
	return err
}

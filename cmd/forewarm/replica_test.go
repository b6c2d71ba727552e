package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// replica is a process of forewarm.
type replica struct {
	command *exec.Cmd
	url     string
	log     string
	client  *http.Client
}

// start runs forewarm with the rights of its own account, and returns when it is ready. The first flag is that of its history.
func start(t *testing.T, c *apiservertest.Cluster, flags ...string) *replica {
	t.Helper()
	port := freePort(t)
	token := strings.TrimSpace(c.MustKubectl(t, "", "create", "token", "forewarm", "-n", system))
	kubeconfig := apiservertest.Kubeconfig(t, &rest.Config{
		Host: c.Config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: c.Config.CAData}, BearerToken: token,
	})
	r := &replica{
		url:    fmt.Sprintf("https://127.0.0.1:%d", port),
		log:    filepath.Join(t.TempDir(), "log"),
		client: clientOf(t, c.Config),
	}
	log, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	r.command = exec.Command(os.Args[0], append([]string{
		"serve", "--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port), "--log-format=json", "--warm-pool-step=1s",
	}, flags...)...)
	r.command.Env = append(os.Environ(), asForewarm+"=1")
	r.command.Stdout, r.command.Stderr = log, log
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r.command.ProcessState == nil {
			r.stop(t)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", r.url, r.said(t))
		}
	})
	// As a kubelet asks, without a certificate: a server learns whom to trust a moment after it listens.
	kubelet := &replica{url: r.url, client: clientOf(t, rest.AnonymousClientConfig(c.Config))}
	eventually(t, func() string {
		if code, body := kubelet.get(t, "/readyz"); code != http.StatusOK {
			return body
		}
		return ""
	})
	return r
}

func freePort(t *testing.T) int {
	t.Helper()
	listener := httptest.NewUnstartedServer(nil).Listener
	defer listener.Close() //nolint:errcheck // The port is wanted, not the listener.
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// port is where it listens.
func (r *replica) port(t *testing.T) int {
	t.Helper()
	port, err := strconv.Atoi(r.url[strings.LastIndex(r.url, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// stop is what a kubelet does first.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	over := make(chan error, 1)
	go func() { over <- r.command.Wait() }()
	select {
	case err := <-over:
		if err != nil {
			t.Errorf("after SIGTERM forewarm ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("forewarm does not end on SIGTERM", r.command.Process.Kill())
	}
}

func (r *replica) said(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(r.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// get asks it past the aggregator.
func (r *replica) get(t *testing.T, path string) (code int, body string) {
	t.Helper()
	response, err := r.client.Get(r.url + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // Read only.
	var text strings.Builder
	if _, err := fmt.Fprint(&text, response.Status, " "); err != nil {
		t.Fatal(err)
	}
	if err := response.Write(&text); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text.String()
}

// clientOf calls servers whose certificate is of their own making.
func clientOf(t *testing.T, config *rest.Config) *http.Client {
	t.Helper()
	own := rest.CopyConfig(config)
	own.CAData, own.Insecure = nil, true
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		t.Fatal(err)
	}
	client.Timeout = 10 * time.Second
	return client
}

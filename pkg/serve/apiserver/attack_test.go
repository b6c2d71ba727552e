package apiserver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"k8s.io/klog/v2"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
)

// The libraries' own logs are discarded; klog takes its logger before anything runs.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

const (
	metric = "/apis/external.metrics.k8s.io/v1beta1/namespaces/inference/ready"
	// bound is how much more memory an attack may cost, the attacker's own included.
	bound = 300 << 20
)

// attacker opens connections, and closes them all.
type attacker struct {
	testing.TB
	address string
	mu      sync.Mutex
	conns   []net.Conn
}

// each does something at once n times, or a fifth as often under the race detector, which makes all of it ten times as
// slow and looks for another fault.
func each(n int, do func(i int)) {
	if testing.Short() {
		n /= 5
	}
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func (a *attacker) connect() net.Conn {
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", a.address)
	if err != nil {
		a.Error(err)
		conn, _ = net.Pipe()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conns = append(a.conns, conn)
	return conn
}

// http1 is a connection on which something has been sent, or as much as is taken.
func (a *attacker) http1(text io.Reader) {
	conn := tls.Client(a.connect(), &tls.Config{InsecureSkipVerify: true})
	io.Copy(conn, text) //nolint:errcheck // The server hangs up.
}

// http2 begins requests on one connection, and goes on with each as it is told, until the server hangs up.
func (a *attacker) http2(requests int, method, token string, goOn func(*http2.Framer, uint32) error) {
	conn := tls.Client(a.connect(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	err := framer.WriteSettings()
	go io.Copy(io.Discard, conn) //nolint:errcheck // It ends with the connection.
	var text bytes.Buffer
	packer := hpack.NewEncoder(&text)
	for i := range requests {
		text.Reset()
		for _, field := range [][2]string{
			{":method", method},
			{":scheme", "https"},
			{":authority", "forewarm"},
			{":path", metric},
			{"authorization", fmt.Sprintf("Bearer %s-%s-%d", token, conn.LocalAddr(), i)},
		} {
			if err == nil {
				err = packer.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
		}
		stream := uint32(2*i + 1)
		if err == nil {
			err = framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: stream, BlockFragment: text.Bytes(), EndHeaders: true, EndStream: method == http.MethodGet,
			})
		}
		if err == nil {
			err = goOn(framer, stream)
		}
		if err != nil {
			return
		}
	}
}

func (a *attacker) close() {
	for _, conn := range a.conns {
		conn.Close() //nolint:errcheck // The server may have closed it.
	}
}

// attacks are what anybody can do who reaches the port.
var attacks = map[string]func(a *attacker){
	"streams that are reset at once": func(a *attacker) {
		each(5, func(int) {
			a.http2(1000, http.MethodGet, "forged", func(framer *http2.Framer, stream uint32) error {
				return framer.WriteRSTStream(stream, http2.ErrCodeCancel)
			})
		})
	},
	"bodies that wait for a review": func(a *attacker) {
		chunk := make([]byte, 16<<10)
		each(20, func(int) {
			a.http2(100, http.MethodPost, "slow", func(framer *http2.Framer, stream uint32) (err error) {
				for i := 0; i < 16 && err == nil; i++ {
					err = framer.WriteData(stream, false, chunk)
				}
				return err
			})
		})
	},
	"connections that say nothing": func(a *attacker) { each(500, func(int) { a.connect() }) },
	"handshakes that stall": func(a *attacker) {
		each(500, func(int) {
			io.WriteString(a.connect(), "\x16\x03\x01\x10\x00\x01") //nolint:errcheck // The server may hang up.
		})
	},
	"headers that never end": func(a *attacker) {
		each(200, func(int) { a.http1(strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\nX-A: ")) })
	},
	"huge headers": func(a *attacker) {
		each(500, func(int) {
			a.http1(io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\nHost: x\r\nX-A: "), zeros(1000_000)))
		})
	},
	"long paths": func(a *attacker) {
		each(500, func(int) {
			a.http1(
				io.MultiReader(strings.NewReader("GET /apis/"), zeros(100_000),
					strings.NewReader(" HTTP/1.1\r\nHost: x\r\n\r\n")),
			)
		})
	},
	"huge bodies": func(a *attacker) {
		each(20, func(int) {
			a.http1(io.MultiReader(
				strings.NewReader("PUT "+metric+" HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\n"),
				zeros(300_000_000),
			))
		})
	},
	"a thousand requests": func(a *attacker) {
		each(10, func(int) {
			a.http2(100, http.MethodGet, "slow", func(*http2.Framer, uint32) error { return nil })
		})
	},
}

// zeros is a long text.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A client that reaches the port can neither fill the memory nor keep others out, while the cluster takes seconds for a review.
func TestAttacksOnTheOpenPort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "allowed")
	certificate := ownCertificate(t, file, "allowed")
	base, stub := startCluster(t, snapshottest.Store(snapshottest.EveryState()...), apiserver.AllGroups(),
		func(o *apiserver.ClusterConfig) { o.Library.Authentication.ClientCert.ClientCA = file + ".crt" })
	waitReady(t, insecureClient(t), base)
	stub.hangs.Store(int64(4 * time.Second))
	other := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}},
		ForceAttemptHTTP2: true,
		DisableKeepAlives: true,
	}}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			var (
				began, before, routines = time.Now(), processtest.Memory(), runtime.NumGoroutine()
				most                    uint64
				slowest                 time.Duration
			)
			a := &attacker{TB: t, address: strings.TrimPrefix(base, "https://")}
			done := make(chan struct{})
			go func() {
				defer close(done)
				attack(a)
			}()
			for attacked := true; attacked; {
				select {
				case <-done:
					attacked = false // And once more, while the connections are open.
				case <-time.After(100 * time.Millisecond):
				}
				most = max(most, processtest.MemoryUpTo(before+bound))
				asked := time.Now()
				if got := askAgain(other, base+metric); got != nil {
					t.Errorf("another client: %v", got)
				}
				slowest = max(slowest, time.Since(asked))
			}
			t.Logf("%s; %d MiB more, %d goroutines more; another client waits %s at most", time.Since(began),
				(max(most, before)-before)>>20, runtime.NumGoroutine()-routines, slowest)
			if most > before+bound {
				t.Errorf("memory grew from %d to %d MiB", before>>20, most>>20)
			}
			a.close()
			for range 600 {
				if runtime.NumGoroutine() <= routines+20 {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), routines)
		})
	}
}

// askAgain is what another client does: it asks until it is answered, as the aggregator does. The server hangs up on
// handshakes of more than ten seconds, which on a busy machine can be an honest one. Kept out is who waits for minutes.
func askAgain(client *http.Client, url string) error {
	limit, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(limit, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		switch {
		case err == nil && response.StatusCode == http.StatusOK:
			return response.Body.Close()
		case err == nil:
			return errors.Join(fmt.Errorf("it is answered %s", response.Status), response.Body.Close())
		case limit.Err() != nil:
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

package kedaserver_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/forewarm/forewarm/hack/processtest"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
)

// bound is how much more memory an attack may cost, the attacker's own included.
const bound = 300 << 20

// flood opens streams on one connection, and goes on with each as it is told, until the server hangs up.
func flood(conn net.Conn, streams int, goOn func(*http2.Framer, uint32) error) {
	framer := http2.NewFramer(conn, conn)
	_, err := io.WriteString(conn, http2.ClientPreface)
	if err == nil {
		err = framer.WriteSettings()
	}
	go io.Copy(io.Discard, conn) //nolint:errcheck // It ends with the connection.
	var text bytes.Buffer
	packer := hpack.NewEncoder(&text)
	for i := range streams {
		text.Reset()
		for _, field := range [][2]string{
			{":method", "POST"},
			{":scheme", "http"},
			{":authority", "forewarm"},
			{":path", pb.ExternalScaler_IsActive_FullMethodName},
			{"te", "trailers"},
			{"content-type", "application/grpc"},
		} {
			if err == nil {
				err = packer.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
			}
		}
		stream := uint32(2*i + 1)
		if err == nil {
			err = framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: stream, BlockFragment: text.Bytes(), EndHeaders: true,
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

// A client that reaches a plain port cannot fill the memory, and keeps KEDA out only by as many streams as there are.
func TestAttacksOnThePort(t *testing.T) {
	r := kedaPlain(t, ready())
	if err := ask(r.client(nil)); err != nil {
		t.Fatal(err)
	}
	large := append([]byte{0, 0x7f, 0xff, 0xff, 0xff}, make([]byte, 16<<10-5)...) // The prefix says 2 GiB.
	for name, attack := range map[string]struct {
		conns int
		// fills says that it takes all streams that there are, so that others may be refused meanwhile.
		fills bool
		run   func(conn net.Conn)
	}{
		"streams that are reset at once": {5, false, func(conn net.Conn) {
			flood(conn, 5000, func(framer *http2.Framer, stream uint32) error {
				return framer.WriteRSTStream(stream, http2.ErrCodeCancel)
			})
		}},
		"streams that say nothing": {20, true, func(conn net.Conn) {
			flood(conn, 5000, func(*http2.Framer, uint32) error { return nil })
		}},
		"huge messages": {20, false, func(conn net.Conn) {
			flood(conn, 200, func(framer *http2.Framer, stream uint32) error {
				return framer.WriteData(stream, false, large)
			})
		}},
		"connections that say nothing": {500, false, func(net.Conn) {}},
		"garbage":                      {500, false, func(conn net.Conn) { conn.Write(large) }}, //nolint:errcheck // It hangs up.
	} {
		t.Run(name, func(t *testing.T) {
			before, routines := processtest.Memory(), runtime.NumGoroutine()
			var all sync.WaitGroup
			var conns []net.Conn
			for range attack.conns {
				conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", r.address)
				if err != nil {
					t.Fatal(err)
				}
				conns = append(conns, conn)
				all.Go(func() {
					//nolint:errcheck // A server that reads no more holds the attacker up, not the test.
					conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
					attack.run(conn)
				})
			}
			slowest, most := time.Duration(0), before
			for range 5 {
				asked := time.Now()
				other := r.dial(nil)
				if err := ask(pb.NewExternalScalerClient(other)); err != nil && !attack.fills {
					t.Errorf("KEDA is answered: %v", err)
				}
				other.Close() //nolint:errcheck // It was asked.
				slowest, most = max(slowest, time.Since(asked)), max(most, processtest.MemoryUpTo(before+bound))
			}
			all.Wait()
			most = max(most, processtest.MemoryUpTo(before+bound))
			t.Logf("%d MiB more, %d goroutines more; KEDA waits %s at most", (most-before)>>20,
				runtime.NumGoroutine()-routines, slowest)
			if most > before+bound {
				t.Errorf("memory grew from %d to %d MiB", before>>20, most>>20)
			}
			for _, conn := range conns {
				conn.Close() //nolint:errcheck // The server may have closed it.
			}
			for range 600 {
				if runtime.NumGoroutine() <= routines+20 {
					if err := ask(r.client(nil)); err != nil {
						t.Errorf("KEDA is answered after it: %v", err)
					}
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), routines)
		})
	}
}

package kedaserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	pb "github.com/forewarm/forewarm/pkg/serve/keda/externalscaler"
	"github.com/forewarm/forewarm/pkg/serve/kedaserver"
)

// running is a server under way.
type running struct {
	t       *testing.T
	server  *kedaserver.Server
	address string
	stop    context.CancelFunc
	stopped chan error
}

func start(t *testing.T, o kedaserver.Config, snapshots *snapshot.Store, now func() time.Time) *running {
	t.Helper()
	server, err := kedaserver.Open(t.Context(), o, snapshots, now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, server: server, address: server.Addr().String(), stop: cancel, stopped: make(chan error, 1)}
	go func() { r.stopped <- server.Run(ctx); close(r.stopped) }()
	t.Cleanup(func() { cancel(); r.wait(20 * time.Second) })
	return r
}

// kedaPlain serves the store on loopback without TLS.
func kedaPlain(t *testing.T, snapshots *snapshot.Store) *running {
	t.Helper()
	return start(t, kedaserver.Config{Address: "127.0.0.1:0"}, snapshots, snapshottest.Now)
}

// wait wants the server to stop without an error.
func (r *running) wait(limit time.Duration) {
	r.t.Helper()
	select {
	case err := <-r.stopped:
		if err != nil {
			r.t.Errorf("stop: %v", err)
		}
	case <-time.After(limit):
		r.t.Errorf("the server goes on %s after the stop", limit)
	}
}

// dial is a connection; nil means without TLS.
func (r *running) dial(config *tls.Config) *grpc.ClientConn {
	r.t.Helper()
	creds := insecure.NewCredentials()
	if config != nil {
		creds = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient("passthrough:"+r.address, grpc.WithTransportCredentials(creds))
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// client is a client whose connection ends with the test.
func (r *running) client(config *tls.Config) pb.ExternalScalerClient { //nolint:ireturn // As generated.
	r.t.Helper()
	conn := r.dial(config)
	r.t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return pb.NewExternalScalerClient(conn)
}

func ref(forecast string) *pb.ScaledObjectRef {
	return &pb.ScaledObjectRef{
		Name: "llama", Namespace: "inference",
		ScalerMetadata: map[string]string{"scalerAddress": "x", "forecast": forecast},
	}
}

func ready() *snapshot.Store { return snapshottest.Store(snapshottest.EveryState()...) }

// ask is one request.
func ask(client pb.ExternalScalerClient) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	got, err := client.IsActive(ctx, ref("ready"))
	if err == nil && !got.GetResult() {
		return errors.New("not active")
	}
	return err
}

// demand is a snapshot in which the Forecast "ready" has so much.
func demand(value float64) *snapshot.Snapshot {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	entry.Observed, entry.Decision = value, decide.Decision{Value: value}
	return snapshottest.Snapshot(entry)
}

func TestThePlainServerAnswers(t *testing.T) {
	client := kedaPlain(t, ready()).client(nil)
	if err := ask(client); err != nil {
		t.Error(err)
	}
	_, err := client.IsActive(t.Context(), ref("stale"))
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "42m old") {
		t.Errorf("stale: %v", err)
	}
}

func TestAChangeReachesTheClientAtOnce(t *testing.T) {
	snapshots := &snapshot.Store{}
	snapshots.Publish(demand(0))
	stream, err := kedaPlain(t, snapshots).client(nil).StreamIsActive(t.Context(), ref("ready"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false} {
		if i > 0 {
			snapshots.Publish(demand(float64(i % 2)))
		}
		begun := time.Now()
		got, err := stream.Recv()
		if err != nil || got.GetResult() != want {
			t.Fatalf("state %d: %v (%v), want %v", i, got.GetResult(), err, want)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("state %d took %s", i, took)
		}
	}
}

// The streams end without an error, so that KEDA comes back soon; a client that never asked anything, and one that
// watches the health, hold up nothing.
func TestTheStopEndsStreams(t *testing.T) {
	t.Parallel() // An unused connection has five seconds.
	r := kedaPlain(t, ready())
	client := r.client(nil)
	active, err := client.StreamIsActive(t.Context(), ref("ready"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := client.StreamMetricSpec(t.Context(), ref("objective"))
	if err != nil {
		t.Fatal(err)
	}
	conn := r.dial(nil)
	defer conn.Close() //nolint:errcheck // The server ends it.
	watch, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = active.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err = spec.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err = watch.Recv(); err != nil {
		t.Fatal(err)
	}
	raw, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // Nothing was written.
	if err := ask(
		r.client(nil),
	); err != nil { // A connection that came later is answered, so that one has been taken, too.
		t.Fatal(err)
	}
	r.stop()
	if _, err := active.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("activity ended with %v, want the end of the stream", err)
	}
	if _, err := spec.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the spec ended with %v, want the end of the stream", err)
	}
	r.wait(8 * time.Second)
}

func TestAPanicFailsItsRequestOnly(t *testing.T) {
	broken := true
	r := start(t, kedaserver.Config{Address: "127.0.0.1:0"}, ready(), func() time.Time {
		if broken {
			panic("the clock is broken")
		}
		return snapshottest.Now()
	})
	client := r.client(nil)
	if err := ask(client); status.Code(err) != codes.Internal || strings.Contains(err.Error(), "clock") {
		t.Errorf("a request that panics: %v, want Internal and nothing of the inside", err)
	}
	stream, err := client.StreamIsActive(t.Context(), ref("ready"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.Internal {
		t.Errorf("a stream that panics: %v, want Internal", err)
	}
	broken = false
	if err := ask(client); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

func TestALargeRequestIsRefused(t *testing.T) {
	large := ref("ready")
	large.ScalerMetadata["forecast"] = strings.Repeat("x", 1<<20)
	_, err := kedaPlain(t, ready()).client(nil).IsActive(t.Context(), large)
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a request of 1 MiB: %v, want ResourceExhausted", err)
	}
}

func TestHealthMeansThatThereIsASnapshot(t *testing.T) {
	snapshots := &snapshot.Store{}
	conn := kedaPlain(t, snapshots).dial(nil)
	defer conn.Close() //nolint:errcheck // Read only.
	var watches []healthpb.Health_WatchClient
	for _, service := range []string{"", "externalscaler.ExternalScaler"} {
		watch, err := healthpb.NewHealthClient(conn).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		if err != nil {
			t.Fatal(err)
		}
		await(t, watch, healthpb.HealthCheckResponse_NOT_SERVING)
		watches = append(watches, watch)
	}
	snapshots.Publish(demand(1))
	for _, watch := range watches {
		await(t, watch, healthpb.HealthCheckResponse_SERVING)
	}
}

func await(t *testing.T, watch healthpb.Health_WatchClient, want healthpb.HealthCheckResponse_ServingStatus) {
	t.Helper()
	for {
		got, err := watch.Recv()
		if err != nil {
			t.Fatalf("waiting for %s: %v", want, err)
		}
		if got.GetStatus() == want {
			return
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	r := kedaPlain(t, ready())
	client := r.client(nil)
	if err := ask(client); err != nil {
		t.Fatal(err)
	}
	if _, err := client.IsActive(t.Context(), ref("stale")); err == nil {
		t.Fatal("a stale Forecast is active")
	}
	families, err := r.server.Metrics().Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[string]float64)
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "forewarm_keda_") {
			t.Errorf("%s is no metric of forewarm", family.GetName())
		}
		for _, m := range family.GetMetric() {
			of := make(map[string]string)
			for _, l := range m.GetLabel() {
				of[l.GetName()] = l.GetValue()
			}
			counted[family.GetName()+" "+of["grpc_method"]+" "+of["grpc_code"]] = m.GetCounter().GetValue()
		}
	}
	for _, want := range []string{"IsActive OK", "IsActive Unavailable"} {
		if got := counted["forewarm_keda_grpc_server_handled_total "+want]; got != 1 {
			t.Errorf("%s: counted %g of 1; all: %v", want, got, counted)
		}
	}
}

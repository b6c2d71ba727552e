package serve //nolint:testpackage // The server without the command line, on a port of its own.

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// spans is a collector of OpenTelemetry: it keeps the spans that it receives.
type spans struct {
	collector.UnimplementedTraceServiceServer

	mu  sync.Mutex
	all []*tracepb.Span
}

func (s *spans) Export(
	_ context.Context, request *collector.ExportTraceServiceRequest,
) (*collector.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			s.all = append(s.all, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// named returns the first span of a name in the namespace team-a.
func (s *spans) named(name string) *tracepb.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		for _, a := range one.GetAttributes() {
			if one.GetName() == name && a.GetKey() == "k8s.namespace.name" &&
				a.GetValue().GetStringValue() == "team-a" {
				return one
			}
		}
	}
	return nil
}

func collect(t *testing.T) (*spans, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received, server := &spans{}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, received)
	go func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(server.Stop)
	return received, listener.Addr().String()
}

// A slow store is seen in the traces, by its Forecast and by its name. No span has a secret.
func TestTracesShowSlowStores(t *testing.T) {
	const secret, delay = "s3cret-token", 300 * time.Millisecond
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(delay)
		http.Error(w, "you sent "+secret, http.StatusInternalServerError)
	}))
	t.Cleanup(slow.Close)
	received, endpoint := collect(t)
	o, dir := Defaults(), t.TempDir()
	for name, text := range map[string]string{
		"sources": fmt.Sprintf("sources: [{name: slow, url: %q, namespaces: [team-a], "+
			"authorization: {credentials_file: token}}]", slow.URL+"/?key="+secret),
		"token":          secret,
		"forecasts.yaml": fmt.Sprintf(tenantsForecasts, "team-a", ""),
		"tracing": "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n" +
			"endpoint: " + endpoint + "\nsamplingRatePerMillion: 1000000\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.Standalone, o.Local.Port, o.ConfigDir = true, 0, dir
	o.SourcesFile, o.TracingConfig = filepath.Join(dir, "sources"), filepath.Join(dir, "tracing")
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	_, stop := serve(t, o)
	eventually(t, func() string {
		if received.named("query") == nil || received.named("refresh") == nil {
			return "no spans of a refresh and its query have come"
		}
		return ""
	})
	stop()
	query, refresh := received.named("query"), received.named("refresh")
	if took := time.Duration(query.GetEndTimeUnixNano() - query.GetStartTimeUnixNano()); took < delay {
		t.Errorf("the query took %s, want at least %s", took, delay)
	}
	if string(query.GetParentSpanId()) != string(refresh.GetSpanId()) {
		t.Error("the query is not a part of the refresh")
	}
	if query.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("status %v, want an error", query.GetStatus())
	}
	if text := query.String() + refresh.String(); !strings.Contains(text, "slow") || strings.Contains(text, secret) {
		t.Errorf("want the source's name and no secret in:\n%s", text)
	}
}

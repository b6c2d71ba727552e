package neighbours_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ext "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/forewarm/forewarm/hack/processtest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// endpointPicker is the real endpoint picker of a pool, and what a gateway does with it: it asks for each request by ext_proc, and fails open.
type endpointPicker struct {
	*processtest.Process
	metrics string
	client  ext.ExternalProcessorClient
	// instead is the way of requests for which there is no answer.
	instead func(ctx context.Context, namespace string, body []byte) (address string, done func())
}

// inferencePool is the pool of a namespace's servers.
const inferencePool = `
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: llama, namespace: %s}
spec:
  selector: {matchLabels: {app: llama}}
  targetPorts: [{number: %s}]
  endpointPickerRef: {name: picker, port: {number: 9002}}
`

// startPickers starts the pickers of the scenes that have one.
func (s *serverStage) startPickers(t *testing.T) {
	t.Helper()
	crds := filepath.Join(s.Components.EndpointPickerSource, "config", "crd", "bases")
	s.MustKubectl(t, "apply", "--server-side", "-f", crds)
	for i := range s.scenes {
		if one := &s.scenes[i]; one.picker {
			s.MustApply(t, fmt.Sprintf(inferencePool, one.namespace(), serverPort))
			s.pickers[one.namespace()] = s.startPicker(t, one.namespace())
		}
	}
}

// startPicker runs the picker of a namespace with its default plugins. It listens on all interfaces: it has no flag for an address.
func (s *serverStage) startPicker(t *testing.T, namespace string) *endpointPicker {
	t.Helper()
	ports, err := processtest.FreePorts(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	program := processtest.Program{
		Name:   "picker-" + namespace,
		Binary: filepath.Join(s.Components.EndpointPicker, "epp"),
		Env:    []string{"KUBECONFIG=" + s.Kubeconfig},
		Args: []string{
			"--pool-name=llama", "--pool-namespace=" + namespace, "--secure-serving=false",
			"--metrics-endpoint-auth=false", "--tracing=false", "--enable-pprof=false", "--zap-log-level=error",
			fmt.Sprintf("--grpc-port=%d", ports[0]), fmt.Sprintf("--grpc-health-port=%d", ports[1]),
			fmt.Sprintf("--metrics-port=%d", ports[2]),
		},
	}
	p := &endpointPicker{metrics: fmt.Sprintf("127.0.0.1:%d", ports[2]), instead: s.turn}
	if p.Process, err = program.Start(s.Dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:\n%s", p.Name, p.Tail())
		}
		p.Kill()
	})
	if err = p.AwaitHealthy(t.Context(), time.Minute, http.DefaultClient, "http://"+p.metrics+"/metrics"); err != nil {
		t.Fatal(err)
	}
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	connection, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", ports[0]), plain)
	if err != nil {
		t.Fatal(err)
	}
	p.client = ext.NewExternalProcessorClient(connection)
	return p
}

// pick asks the picker.
func (p *endpointPicker) pick(ctx context.Context, namespace string, body []byte) (address string, done func()) {
	asked, cancel := context.WithCancel(ctx)
	stream, err := p.client.Process(asked)
	if err == nil {
		address, err = ask(stream, body)
	}
	if err != nil || address == "" {
		cancel()
		return p.instead(ctx, namespace, body)
	}
	return address, func() {
		defer cancel()
		// It counts the request as running until it sees the end of the answer.
		for err = answer(stream); err == nil; {
			_, err = stream.Recv()
		}
	}
}

// ask sends a request as a gateway does, and returns the endpoint in the answer.
func ask(stream ext.ExternalProcessor_ProcessClient, body []byte) (endpoint string, err error) {
	headers := &core.HeaderMap{}
	for name, value := range map[string]string{
		":method": http.MethodPost, ":path": "/v1/completions", "content-type": "application/json",
	} {
		headers.Headers = append(headers.Headers, &core.HeaderValue{Key: name, RawValue: []byte(value)})
	}
	err = errors.Join(
		stream.Send(&ext.ProcessingRequest{Request: &ext.ProcessingRequest_RequestHeaders{
			RequestHeaders: &ext.HttpHeaders{Headers: headers},
		}}),
		stream.Send(&ext.ProcessingRequest{Request: &ext.ProcessingRequest_RequestBody{
			RequestBody: &ext.HttpBody{Body: body, EndOfStream: true},
		}}))
	if err != nil {
		return "", err
	}
	response, err := stream.Recv()
	if err != nil {
		return "", err
	}
	if immediate := response.GetImmediateResponse(); immediate != nil {
		return "", fmt.Errorf("the picker answers %s: %s", immediate.GetStatus().GetCode(), immediate.GetBody())
	}
	for _, h := range response.GetRequestHeaders().GetResponse().GetHeaderMutation().GetSetHeaders() {
		if h.GetHeader().GetKey() == "x-gateway-destination-endpoint" {
			endpoint = string(h.GetHeader().GetRawValue())
		}
	}
	return endpoint, nil
}

// answer sends the end of a server's answer.
func answer(stream ext.ExternalProcessor_ProcessClient) error {
	headers := &core.HeaderMap{Headers: []*core.HeaderValue{{Key: ":status", RawValue: []byte("200")}}}
	return errors.Join(
		stream.Send(&ext.ProcessingRequest{Request: &ext.ProcessingRequest_ResponseHeaders{
			ResponseHeaders: &ext.HttpHeaders{Headers: headers},
		}}),
		stream.Send(&ext.ProcessingRequest{Request: &ext.ProcessingRequest_ResponseBody{
			ResponseBody: &ext.HttpBody{EndOfStream: true},
		}}),
		stream.CloseSend())
}

package modelserver_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

// TestServer: requests at once share the batch, the metrics have vLLM's names, and a server that drains serves what it has.
func TestServer(t *testing.T) {
	t.Parallel()
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	s, err := modelserver.Start(t.Context(), address, modelserver.Default(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			const body = `{"model": "llama", "prompt": "", "prompt_tokens": 100, "max_tokens": 40}`
			if text := fetch(
				t,
				http.MethodPost,
				"http://"+address+"/v1/completions",
				body,
			); !strings.Contains(
				text,
				"[DONE]",
			) {
				t.Errorf("a request ends with %q", text)
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	shows(
		t,
		address,
		"vllm:num_requests_running{%s} 16",
		"vllm:num_requests_waiting{%s} 4",
		"vllm:time_to_first_token_seconds_count{%s} 16",
	)
	s.Terminate(t.Context())
	all.Wait()
	select {
	case <-s.Exited():
	case <-time.After(10 * time.Second):
		t.Error("the server does not exit after its last answer")
	}
}

// shows reports lines that the metrics do not have.
func shows(t *testing.T, address string, lines ...string) {
	t.Helper()
	text := fetch(t, http.MethodGet, "http://"+address+"/metrics", "")
	for _, line := range lines {
		if line = fmt.Sprintf(line, `engine="0",model_name="llama"`); !strings.Contains(text, line) {
			t.Errorf("%s is not in\n%s", line, text)
		}
	}
}

func fetch(t *testing.T, method, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close() //nolint:errcheck // It is read to its end.
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", url, response.Status, err)
	}
	return string(text)
}

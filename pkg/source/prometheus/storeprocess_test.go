package prometheus_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// folders is the variable that lists the folders with the binaries.
const folders = "FOREWARM_STORES"

// startTimeout is how long a server may take to be ready on a busy machine.
const startTimeout = time.Minute

// Process is a running server.
type Process struct {
	*processtest.Process

	// URL of its HTTP API.
	URL string
}

// built is the list of folders. It skips the test where it is not set.
func built(tb testing.TB) string {
	tb.Helper()
	list := os.Getenv(folders)
	if list == "" {
		tb.Skipf("%s is unset: run make e2e-sources, which builds the stores and sets it", folders)
	}
	return list
}

// binary is the path of a store's program. It fails the test where it is missing.
func binary(tb testing.TB, name string) string {
	tb.Helper()
	list := built(tb)
	for _, folder := range filepath.SplitList(list) {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	tb.Fatalf("%s=%s has no %s: run make e2e-sources, which builds it", folders, list, name)
	return ""
}

// start runs a program until the test ends, or until Kill. It returns when the path answers with status 200.
func start(tb testing.TB, path, address, ready string, args ...string) *Process {
	tb.Helper()
	program := processtest.Program{Name: filepath.Base(path), Binary: path, Args: args}
	process, err := program.Start(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(process.Kill)
	p := &Process{process, "http://" + address}
	if err := p.AwaitHealthy(tb.Context(), startTimeout, http.DefaultClient, p.URL+ready); err != nil {
		tb.Fatal(err)
	}
	return p
}

// get is the body of an answer with status 200.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	return do(request)
}

// do sends a request on a connection of its own, so that none is left open.
func do(request *http.Request) (string, error) {
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // Read to its end below.
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	if response.StatusCode/100 != 2 {
		return "", fmt.Errorf("%s %s: %s: %.500s", request.Method, request.URL.Path, response.Status, text)
	}
	return string(text), nil
}

// address is a free port of loopback.
func address(tb testing.TB) string {
	tb.Helper()
	port, err := processtest.FreePort(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

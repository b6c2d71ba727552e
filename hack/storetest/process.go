package storetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// folders is the variable that lists the folders with the binaries.
const folders = "FOREWARM_STORES"

// startTimeout is how long a server may take to be ready on a busy machine.
const startTimeout = time.Minute

// Process is a running server.
type Process struct {
	// URL of its HTTP API.
	URL string

	name, log string
	command   *exec.Cmd
	over      chan struct{}
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
func start(tb testing.TB, path, url, ready string, args ...string) *Process {
	tb.Helper()
	name := filepath.Base(path)
	file, err := os.CreateTemp(tb.TempDir(), name+"-*.log")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()                     //nolint:errcheck // The process has its own descriptor.
	command := exec.Command(path, args...) //nolint:noctx // The cleanup ends it.
	command.Dir, command.Stdout, command.Stderr = tb.TempDir(), file, file
	// If this process is killed, the server ends, too.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	p := &Process{URL: url, name: name, log: file.Name(), command: command, over: make(chan struct{})}
	go func() {
		defer close(p.over)
		_ = command.Wait() //nolint:errcheck // It is killed, which is an error.
	}()
	tb.Cleanup(p.Kill)
	p.await(tb, ready)
	return p
}

// Kill kills it, and returns when it has ended.
func (p *Process) Kill() {
	_ = p.command.Process.Kill() //nolint:errcheck // It may have ended.
	<-p.over
}

// await polls until the path answers with status 200.
func (p *Process) await(tb testing.TB, path string) {
	tb.Helper()
	eventually(tb, p.name+" is ready", func() error {
		select {
		case <-p.over:
			tb.Fatalf("%s ended; its log ends:\n%s", p.name, p.tail())
		default:
		}
		_, err := get(tb.Context(), p.URL+path)
		return err
	}, p.tail)
}

// tail is the end of its log.
func (p *Process) tail() string {
	const most = 9000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// eventually polls a check until it has no error. Then, or after the timeout, it returns or fails the test.
func eventually(tb testing.TB, what string, check func() error, more func() string) {
	tb.Helper()
	const interval = 50 * time.Millisecond
	var err error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(interval) {
		if err = check(); err == nil {
			return
		}
	}
	tb.Fatalf("after %v still not: %s: %v\n%s", startTimeout, what, err, more())
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
	l, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return l.Addr().String()
}

package modelserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/modelserver"
)

// The environment of a process of this test binary that is a model server: its address and its --shutdown-timeout.
const (
	addressVariable = "FOREWARM_MODEL_SERVER"
	timeoutVariable = "FOREWARM_MODEL_SERVER_SHUTDOWN_TIMEOUT"
)

// TestMain runs the tests, or is a model server until SIGTERM.
func TestMain(m *testing.M) {
	address := os.Getenv(addressVariable)
	if address == "" {
		os.Exit(m.Run())
	}
	if err := serve(address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	timeout, err := time.ParseDuration(os.Getenv(timeoutVariable))
	if err != nil {
		return err
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	ctx := context.Background()
	s, err := modelserver.Start(ctx, address, modelserver.Default(), timeout)
	if err != nil {
		return err
	}
	<-term
	s.Terminate(ctx)
	<-s.Exited()
	return nil
}

// endpointLag is the time from the deletion of a pod until the gateway sends it no more requests.
const endpointLag = 500 * time.Millisecond

// TestScaleDown: a replica of two is stopped under load, as a kubelet stops it. Without a preStop sleep, a server that drains, and a grace
// period that lasts, requests are cut. With all three none is.
func TestScaleDown(t *testing.T) {
	t.Parallel()
	const drain, preStop = time.Minute, 2 * endpointLag
	cases := []struct {
		name     string
		shutdown time.Duration // The server's --shutdown-timeout.
		stop     modelserver.Termination
		cuts     bool
	}{
		{"defaults of vLLM and Kubernetes", 0, modelserver.Termination{Grace: 30 * time.Second}, true},
		{"no preStop sleep", drain, modelserver.Termination{Grace: 30 * time.Second}, true},
		{"no drain", 0, modelserver.Termination{PreStop: preStop, Grace: 30 * time.Second}, true},
		{"short grace period", drain, modelserver.Termination{PreStop: preStop, Grace: 2 * time.Second}, true},
		{"all", drain, modelserver.Termination{PreStop: preStop, Grace: 30 * time.Second}, false},
	}
	var all sync.WaitGroup
	var scenes []*scaleDown
	for _, c := range cases {
		s := newScaleDown(t, c.shutdown)
		scenes = append(scenes, s)
		all.Go(func() { s.run(t, c.stop) })
	}
	all.Wait()
	for i, c := range cases {
		s := scenes[i]
		t.Logf(
			"%s: %d of %d requests were cut; the replica ended after %.1f s",
			c.name,
			s.cut,
			s.sent,
			s.took.Seconds(),
		)
		if (s.cut > 0) != c.cuts {
			t.Errorf("%s: %d of %d requests were cut, want some: %t", c.name, s.cut, s.sent, c.cuts)
		}
		if !c.cuts && s.exit != nil {
			t.Errorf("%s: the replica ended with %v, want 0", c.name, s.exit)
		}
		if c.shutdown > 0 && !s.unready {
			t.Errorf("%s: the replica stayed ready after SIGTERM", c.name)
		}
	}
}

// scaleDown is two replicas, of which the first is stopped, and a gateway that takes turns.
type scaleDown struct {
	replicas  [2]*processtest.Process
	addresses [2]string
	client    *http.Client

	mu        sync.Mutex
	endpoints []string
	turn      int
	sent, cut int
	// unready: the first replica's readiness failed between SIGTERM and its end.
	unready bool
	took    time.Duration
	exit    error
}

// newScaleDown starts the replicas.
func newScaleDown(t *testing.T, shutdown time.Duration) *scaleDown {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ports, err := processtest.FreePorts(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	s := &scaleDown{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	for i, port := range ports {
		s.addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
		program := processtest.Program{
			Name: fmt.Sprint("replica-", i), Binary: binary,
			Env: []string{addressVariable + "=" + s.addresses[i], timeoutVariable + "=" + shutdown.String()},
		}
		if s.replicas[i], err = program.Start(t.TempDir()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.replicas[i].Kill)
		ready := "http://" + s.addresses[i] + "/health"
		if err = s.replicas[i].AwaitHealthy(t.Context(), 30*time.Second, http.DefaultClient, ready); err != nil {
			t.Fatal(err)
		}
	}
	s.endpoints = s.addresses[:]
	return s
}

// run sends ten requests of two seconds in each second, and one of five before the first replica is deleted, and waits for all answers.
func (s *scaleDown) run(t *testing.T, stop modelserver.Termination) {
	t.Helper()
	const length, deleteAt = 4 * time.Second, 1500 * time.Millisecond
	var all sync.WaitGroup
	begin := time.Now()
	for at := time.Duration(0); at < length; at += 100 * time.Millisecond {
		time.Sleep(time.Until(begin.Add(at)))
		all.Go(func() { s.ask(t, s.next(), 90) })
		if at == deleteAt {
			all.Go(func() { s.ask(t, s.addresses[0], 240) })
			all.Go(func() { s.delete(t, stop) })
		}
	}
	all.Wait()
}

// delete deletes the first replica: its kubelet stops it, while the gateway learns of it.
func (s *scaleDown) delete(t *testing.T, stop modelserver.Termination) {
	t.Helper()
	begin, replica := time.Now(), s.replicas[0]
	time.Sleep(50 * time.Millisecond) // The request that was just sent is accepted.
	time.AfterFunc(endpointLag, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endpoints = s.endpoints[1:]
	})
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		s.exit = replica.Exit(t.Context())
	}()
	terminate := func() {
		if err := replica.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		go s.probe(t)
	}
	stop.Stop(t.Context(), terminate, replica.Kill, exited)
	s.took = time.Since(begin)
}

// probe probes the first replica's readiness until it answers that it is not ready, or ends.
func (s *scaleDown) probe(t *testing.T) {
	t.Helper()
	for s.replicas[0].Running() {
		if status, err := s.health(t.Context()); err == nil && status == http.StatusServiceUnavailable {
			s.mu.Lock()
			s.unready = true
			s.mu.Unlock()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *scaleDown) health(ctx context.Context) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addresses[0]+"/health", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

func (s *scaleDown) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	return s.endpoints[s.turn%len(s.endpoints)]
}

// ask sends a request and counts it.
func (s *scaleDown) ask(t *testing.T, address string, tokens int) {
	t.Helper()
	body, err := json.Marshal(
		modelserver.Completion{Model: "llama", PromptTokens: 100, MaxTokens: tokens, Stream: true},
	)
	if err != nil {
		t.Error(err)
		return
	}
	_, err = modelserver.Ask(t.Context(), s.client, address, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent++
	switch {
	case errors.Is(err, modelserver.ErrCut):
		s.cut++
	case err != nil:
		t.Error(err)
	}
}

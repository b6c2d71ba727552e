package modelserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Completion is the body of a request to /v1/completions. The prompt has its length in tokens next to it.
type Completion struct {
	Model        string `json:"model"`
	Prompt       string `json:"prompt"`
	PromptTokens int    `json:"prompt_tokens"`
	MaxTokens    int    `json:"max_tokens"`
	Stream       bool   `json:"stream"`
}

// Server serves an engine at an address, in real time.
type Server struct {
	http    *http.Server
	metrics metrics
	// shutdown is how long a server waits for its requests after SIGTERM.
	shutdown time.Duration
	exited   chan struct{}

	mu     sync.Mutex
	engine *Engine
	wake   chan struct{}
	behind time.Duration
	// open is the requests without their full answer. Once stopping is set, there are no new ones, and the last one closes drained.
	open     int
	stopping bool
	drained  chan struct{}
}

// metrics are the histograms and the counter of vLLM's that presets read.
type metrics struct {
	queued, first prometheus.Histogram
	done          prometheus.Counter
}

// Start listens at an address and serves until Terminate or Kill. The last argument is vLLM's --shutdown-timeout: how long the server
// waits for its requests after SIGTERM. With 0, vLLM's default, it aborts them at once.
func Start(ctx context.Context, address string, c Config, shutdownTimeout time.Duration) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start a model server: %w", err)
	}
	s := &Server{
		engine: New(c), shutdown: shutdownTimeout,
		wake: make(chan struct{}, 1), drained: make(chan struct{}), exited: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", s.complete)
	mux.HandleFunc("GET /health", s.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.register(), promhttp.HandlerOpts{}))
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go s.run()
	go s.http.Serve(listener) //nolint:errcheck // It ends with the server.
	return s, nil
}

// register registers vLLM's metrics.
func (s *Server) register() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"engine": "0", "model_name": "llama"}
	with := promauto.With(prometheus.WrapRegistererWith(labels, registry))
	gauge := func(name string, value func() float64) {
		with.NewGaugeFunc(prometheus.GaugeOpts{Name: "vllm:" + name}, func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return value()
		})
	}
	gauge("num_requests_running", func() float64 { return float64(s.engine.Running()) })
	gauge("num_requests_waiting", func() float64 { return float64(s.engine.Waiting()) })
	gauge("kv_cache_usage_perc", s.engine.Usage)
	histogram := func(name string, bounds ...float64) prometheus.Histogram {
		return with.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + name, Buckets: bounds})
	}
	s.metrics = metrics{
		queued: histogram("request_queue_time_seconds",
			.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680),
		first: histogram("time_to_first_token_seconds",
			.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
		done: with.NewCounter(prometheus.CounterOpts{ //nolint:promlinter // vLLM's name.
			Name: "vllm:request_success_total", ConstLabels: prometheus.Labels{"finished_reason": "stop"},
		}),
	}
	return registry
}

// complete answers a request: the header and an event when it has its first token, another at its end.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	var body Completion
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !s.admit() {
		http.Error(w, "the server is stopping", http.StatusServiceUnavailable)
		return
	}
	defer s.release()
	begin, first, done := time.Now(), make(chan struct{}), make(chan struct{})
	request := &Request{
		Prompt: body.PromptTokens, Output: body.MaxTokens,
		Started: func() { s.metrics.queued.Observe(time.Since(begin).Seconds()) },
		First: func() {
			s.metrics.first.Observe(time.Since(begin).Seconds())
			close(first)
		},
		Done: func() { close(done) },
	}
	s.mu.Lock()
	s.engine.Add(request)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	// The engine finishes the request of a client that has gone.
	if !await(r.Context(), first) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: {\"choices\": [{\"index\": 0, \"text\": \"a\"}]}\n\n")
	if err := http.NewResponseController(w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	if !await(r.Context(), done) {
		return
	}
	s.metrics.done.Inc()
	fmt.Fprint(w, end)
}

// await waits for an event, and reports false where the client goes away or its connection is closed before.
func await(ctx context.Context, event <-chan struct{}) bool {
	select {
	case <-event:
		return true
	case <-ctx.Done():
		return false
	}
}

// run steps the engine. A step that ends late on a busy machine makes the next one shorter.
func (s *Server) run() {
	for ends := time.Now(); !s.over(); {
		s.mu.Lock()
		step := s.engine.Begin()
		s.mu.Unlock()
		if step == 0 {
			select {
			case <-s.wake:
			case <-s.exited:
				return
			}
			ends = time.Now()
			continue
		}
		ends = ends.Add(step)
		time.Sleep(time.Until(ends))
		s.mu.Lock()
		s.behind = max(s.behind, time.Since(ends))
		s.engine.End()
		s.mu.Unlock()
	}
}

// Behind is how late a step ended, at most: the machine was busy.
func (s *Server) Behind() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behind
}

// InFlight is the requests that run and wait.
func (s *Server) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine.Running() + s.engine.Waiting()
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
)

// server is a running server, with its URL on loopback.
type server struct {
	*processtest.Process

	url string
}

// start starts a program that is told its port by its last argument.
func start(ctx context.Context, dir string, p processtest.Program) (*server, error) {
	port, err := processtest.FreePort(ctx)
	if err != nil {
		return nil, err
	}
	p.Args[len(p.Args)-1] += strconv.Itoa(port)
	process, err := p.Start(dir)
	return &server{process, fmt.Sprintf("http://127.0.0.1:%d", port)}, err
}

func startPrometheus(ctx context.Context, binary, dir string) (*server, error) {
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, []byte("{}\n"), 0o600); err != nil {
		return nil, err
	}
	p, err := start(ctx, dir, processtest.Program{Name: "prometheus", Binary: binary, Args: []string{
		"--config.file=" + config,
		"--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--storage.tsdb.retention.time=60d",
		"--web.listen-address=127.0.0.1:",
	}})
	if err != nil {
		return nil, err
	}
	if err = p.AwaitHealthy(ctx, time.Minute, http.DefaultClient, p.url+"/-/ready"); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func startForewarm(ctx context.Context, o options, dir, forecasts, prometheus string) (*server, error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	namespaces := make([]string, o.namespaces)
	for i := range namespaces {
		namespaces[i] = namespace(i)
	}
	return start(
		ctx,
		dir,
		processtest.Program{
			Name:   "forewarm",
			Binary: binary,
			Env:    []string{processtest.TraceCollections},
			Args: []string{
				"serve",
				"--standalone",
				"--config-dir=" + forecasts,
				"--prometheus-url=" + prometheus,
				"--cluster-query-namespaces=" + strings.Join(
					namespaces,
					",",
				),
				"--query-concurrency-per-namespace=16",
				"--port=",
			},
		},
	)
}

// readyz returns an error while the server is not ready; tell hears what it waits for.
func (s *server) readyz(ctx context.Context, tell func(answer string)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // Read to its end below.
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		tell(string(text))
		err = errors.New(response.Status)
	}
	return err
}

// queriesAnswered are a Prometheus' answers to range queries.
const queriesAnswered = `prometheus_http_requests_total{code="200",handler="/api/v1/query_range"}`

// metric is the value of one series of the server's metrics.
func (s *server) metric(ctx context.Context, series string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // Read to its end, or not needed.
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), series+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(lines.Err(), fmt.Errorf("%s has no metric %s", s.url, series))
}

func usageText(u processtest.Usage) string {
	return fmt.Sprintf("%.1f s CPU, %d MiB resident", u.CPU.Seconds(), u.Resident>>20)
}

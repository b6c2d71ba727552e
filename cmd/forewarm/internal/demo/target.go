package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// target is the simulated workload: a /metrics page on a loopback port.
type target struct {
	listener net.Listener
	server   *http.Server
}

// newTarget opens the port, so that address is known. serve answers on it.
func newTarget(ctx context.Context, metrics []metric, now func() time.Time) (*target, error) {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(newCollector(metrics, now)); err != nil {
		return nil, fmt.Errorf("the demo's workload: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the demo's workload: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return &target{
		listener: listener,
		server:   &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second},
	}, nil
}

// address is the host and port of the page.
func (t *target) address() string { return t.listener.Addr().String() }

// close closes the port where serve was never called.
func (t *target) close() error { return t.listener.Close() }

// serve answers until the context ends.
func (t *target) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = t.server.Close() }) //nolint:errcheck // It stops in any case.
	defer stop()
	if err := t.server.Serve(t.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("the demo's workload: %w", err)
	}
	return nil
}

// collector exports the series' values at the time of the scrape.
type collector struct {
	metrics []metric
	descs   []*prometheus.Desc
	now     func() time.Time
}

func newCollector(metrics []metric, now func() time.Time) *collector {
	c := &collector{metrics: metrics, now: now}
	for _, m := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(m.name, m.help, m.labels, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	now := c.now()
	for i, m := range c.metrics {
		for _, s := range m.series {
			if value, ok := s.at(now); ok {
				out <- prometheus.MustNewConstMetric(c.descs[i], m.kind, value, s.values...)
			}
		}
	}
}

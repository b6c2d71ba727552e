package e2e_test

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// demand is the demand of workloads, by namespace and name: the gauge inflight of an exporter.
type demand struct {
	address string

	mu     sync.Mutex
	values map[workloadKey]func() float64
	// series are further ones, in Prometheus' text format.
	series string
}

type workloadKey struct{ namespace, name string }

func newDemand(t *testing.T) *demand {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &demand{address: listener.Addr().String(), values: map[workloadKey]func() float64{}}
	server := &http.Server{Handler: d, ReadHeaderTimeout: time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *demand) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, value := range d.values {
		if v := value(); !math.IsNaN(v) {
			fmt.Fprintf(w, "inflight{namespace=%q,app=%q} %g\n", key.namespace, key.name, v)
		}
	}
	fmt.Fprint(w, d.series)
}

// set makes the demand of a workload constant.
func (d *demand) set(namespace, name string, value float64) {
	d.follow(namespace, name, func() float64 { return value })
}

// follow makes the demand what a function returns at each scrape; NaN for no series.
func (d *demand) follow(namespace, name string, value func() float64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.values[workloadKey{namespace, name}] = value
}

// expose adds series in Prometheus' text format to each scrape.
func (d *demand) expose(series string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.series += series
}

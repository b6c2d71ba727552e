package e2e_test

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"testing"
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
	d := &demand{values: map[workloadKey]func() float64{}}
	d.address = serveLoopback(t, d)
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

// now returns the demand of a workload; 0 without one.
func (d *demand) now(namespace, name string) float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if value := d.values[workloadKey{namespace, name}]; value != nil {
		return value()
	}
	return 0
}

// expose adds series in Prometheus' text format to each scrape.
func (d *demand) expose(series string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.series += series
}

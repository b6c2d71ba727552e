// Package dashboardtest reads the chart's Grafana dashboards and runs their queries on Prometheus' own engine, with
// variables put in as Grafana does.
package dashboardtest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/pkg/kube/aggregation"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
	"github.com/forewarm/forewarm/pkg/kube/peers"
	"github.com/forewarm/forewarm/pkg/run"
)

const (
	namespace = "forewarm-system"
	service   = namespace + "/forewarm"
	week      = 7 * 24 * time.Hour
)

// NewCluster returns the collectors that only a cluster has in addition to those of pools: who holds the API groups, when
// certificates end, and whether replicas differ. They watch a server with three APIServices and the authority's Secret, which stops with the context.
func NewCluster(ctx context.Context, clock run.Clock) ([]prometheus.Collector, error) {
	now := clock.Now()
	issued, _, err := (&aggregation.Authority{}).Renew(now, aggregation.MinLifetimes*week)
	if err != nil {
		return nil, err
	}
	data, err := issued.Data()
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(stubAPI(data))
	context.AfterFunc(ctx, func() { server.CloseClientConnections(); server.Close() })
	config, log := &rest.Config{Host: server.URL}, slog.New(slog.DiscardHandler)
	groups, err := aggregation.NewGroups(config, service, log)
	if err != nil {
		return nil, err
	}
	secret, err := aggregation.NewSecret(config, namespace, "forewarm-ca", log)
	if err != nil {
		return nil, err
	}
	leaf, err := aggregation.NewLeaf(secret, week, now, log, "forewarm."+namespace+".svc")
	if err != nil {
		return nil, err
	}
	renew := func(ctx context.Context) error { return leaf.Run(ctx, clock) }
	for _, part := range []func(context.Context) error{groups.Run, secret.Run, renew} {
		go part(ctx) //nolint:errcheck // It ends with the context.
	}
	lease := forecasts.LeaseConfig{Namespace: namespace, Name: "forewarm", Identity: "forewarm-0"}
	replicas, err := peers.New(config, lease, func() peers.Statement { return peers.Statement{} }, log)
	if err == nil {
		err = replicas.Step(ctx, now)
	}
	if err != nil {
		return nil, err
	}
	const differences, ownedAndAvailable, certificates = 3, 2 * 3, 2
	wanted := map[prometheus.Collector]int{
		replicas: differences,
		groups:   ownedAndAvailable,
		aggregation.ExpiryCollector{Secret: secret, Leaf: leaf}: certificates,
	}
	return slices.Collect(maps.Keys(wanted)), waitUntilRead(ctx, wanted)
}

// waitUntilRead waits until each collector has the metrics that it has in a cluster. Some watches are read before others.
func waitUntilRead(ctx context.Context, wanted map[prometheus.Collector]int) error {
	short := ""
	for range 100 {
		short = ""
		for c, want := range wanted {
			metrics := make(chan prometheus.Metric, 100)
			c.Collect(metrics)
			if len(metrics) < want {
				short = fmt.Sprintf("%T has %d metrics, want %d", c, len(metrics), want)
			}
		}
		if short == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("after 10 s %s", short)
}

// stubAPI answers the lists of the two watches, and keeps the watches open.
func stubAPI(secret map[string][]byte) http.Handler {
	type object = map[string]any
	apiService := func(group, version string) object {
		return object{
			"metadata": object{"name": version + "." + group, "resourceVersion": "1"},
			"spec": object{
				"group": group, "version": version,
				"service": object{"namespace": namespace, "name": strings.TrimPrefix(service, namespace+"/")},
			},
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := object{
			"kind":       "APIServiceList",
			"apiVersion": "apiregistration.k8s.io/v1",
			"metadata":   object{"resourceVersion": "1"},
			"items": []object{
				apiService(aggregation.External, "v1beta1"),
				apiService(aggregation.Custom, "v1beta2"),
				apiService(aggregation.Inspect, "v1alpha1"),
			},
		}
		if strings.Contains(r.URL.Path, "leases") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(
				w,
				`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"forewarm","namespace":%q}}`,
				namespace,
			)
			return
		}
		if strings.Contains(r.URL.Path, "secrets") {
			list["kind"], list["apiVersion"] = "SecretList", "v1"
			list["items"] = []object{
				{
					"metadata": object{
						"name":            "forewarm-ca",
						"namespace":       namespace,
						"resourceVersion": "1",
					},
					"data": secret,
				},
			}
		}
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			// After this error, the client lists instead.
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		case query.Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			http.NewResponseController(w).Flush() //nolint:errcheck // The watch has no events.
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(list) //nolint:errcheck,errchkjson // The client reports it.
		}
	})
}

// Clock is a clock that is set. Set it before its first use.
type Clock struct{ now atomic.Int64 }

// Set sets the time.
func (c *Clock) Set(now time.Time) { c.now.Store(now.UnixNano()) }

// Now returns the time that was set last.
func (c *Clock) Now() time.Time { return time.Unix(0, c.now.Load()).UTC() }

// WaitUntil waits until the clock is set to a time, or the context ends.
func (c *Clock) WaitUntil(ctx context.Context, t time.Time) error {
	for c.Now().Before(t) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return ctx.Err()
}

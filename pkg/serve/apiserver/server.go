// Package apiserver serves the Kubernetes APIs on one generic API server: external.metrics.k8s.io, custom.metrics.k8s.io,
// inspect.forewarm.dev, /metrics, /livez and /readyz. Cluster serves TLS and delegates authentication and authorization of
// every path to the cluster. Standalone serves the same paths as plain HTTP on loopback, where there is no cluster.
package apiserver

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime"
	endpointmetrics "k8s.io/apiserver/pkg/endpoints/metrics"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	"k8s.io/component-base/metrics/legacyregistry"
	openapicommon "k8s.io/kube-openapi/pkg/common"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/core"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/custommetrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/generated/openapi/externalmetrics"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
	"github.com/forewarm/forewarm/pkg/serve/telemetry"
)

// name is the name of the API server in its OpenAPI documents and logs.
const name = "forewarm"

// Deps are the dependencies of a server.
type Deps struct {
	// Store holds the snapshots to serve.
	Snapshots *snapshot.Store
	// Fleets have the plans of GPUFleets; nil if Forewarm reads none.
	Fleets *fleet.Store
	// Metrics are served on /metrics, with those of the API server itself.
	Metrics prometheus.Gatherer
	// Logger logs the server's start, stop and errors.
	Logger *slog.Logger
	// Ready are the checks of /readyz, in addition to the API server's own.
	Ready []run.Check
	// Now is the clock for the age of data.
	Now func() time.Time
	// Forecasts are those of files, which only a standalone server serves; nil for none.
	Forecasts ForecastFiles
	// Handle are handlers of further paths, behind the same authorization.
	Handle map[string]http.Handler
}

// NewDeps are the dependencies of the API server: the store and its metrics. The common conditions are those of all Forecasts; nil for
// none. The age of data is measured by now.
func NewDeps(
	snapshots *snapshot.Store, common func() []snapshot.Condition, now func() time.Time, log *slog.Logger,
) (Deps, error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(telemetry.New(snapshots, now, common)); err != nil {
		return Deps{}, fmt.Errorf("metrics: %w", err)
	}
	return Deps{
		Snapshots: snapshots, Metrics: registry, Logger: log, Now: now,
	}, nil
}

// newGenericServer completes the configuration and installs every API on the server.
func newGenericServer(
	config *genericapiserver.Config, shared informers.SharedInformerFactory, groups Groups, deps Deps,
) (*genericapiserver.GenericAPIServer, error) {
	scheme, err := inspect.Scheme()
	if err != nil {
		return nil, err
	}
	setOpenAPI(config, scheme)
	config.EnableMetrics, config.EnableProfiling = false, false
	library := adapter.Config{GenericConfig: config}
	// The interfaces must stay nil if a group is not served. The server would serve an interface that contains a nil pointer.
	var custom provider.CustomMetricsProvider
	var external provider.ExternalMetricsProvider
	metrics := metricsapi.New(deps.Snapshots, deps.Fleets, deps.Now)
	if groups.Custom.Served() {
		custom = metrics
	}
	if groups.External.Served() {
		external = metrics
	}
	known := newSelectors()
	config.RequestInfoResolver = withoutSelectors{genericapiserver.NewRequestInfoResolver(config), known}
	config.BuildHandlerChainFunc = func(api http.Handler, c *genericapiserver.Config) http.Handler {
		api = readiness(deps.Ready, plainQuery(plainDiscovery(api)))
		if external != nil {
			api = externalMetrics(external, known, api)
		}
		return handlerChain(api, known, c)
	}
	server, err := library.Complete(shared).New(name, custom, external)
	if err != nil {
		return nil, fmt.Errorf("metrics APIs: %w", err)
	}
	if err := installHandlers(server.GenericAPIServer, scheme, groups, deps); err != nil {
		return nil, err
	}
	return server.GenericAPIServer, nil
}

// installHandlers adds the handlers that the library does not have.
func installHandlers(
	server *genericapiserver.GenericAPIServer, scheme *runtime.Scheme, groups Groups, deps Deps,
) error {
	if groups.Inspect.Served() {
		group := inspect.Group(scheme, deps.Snapshots, deps.Fleets, deps.Now, server.Authorizer)
		if err := server.InstallAPIGroup(group); err != nil {
			return fmt.Errorf("inspection API: %w", err)
		}
	}
	mux := server.Handler.NonGoRestfulMux
	mux.Handle("/metrics", metricsHandler(deps))
	for path, handler := range deps.Handle {
		mux.Handle(path, handler)
	}
	return nil
}

// plainDiscovery answers discovery only group by group. The metrics library leaves its groups out of the aggregated document. A client that
// reads the aggregated document (client-go, and the kube-apiserver on behalf of kubectl) would therefore see only the inspection group.
// Clients fall back to the next format in their Accept header, and the kube-apiserver falls back after a 406.
func plainDiscovery(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept := r.Header.Get("Accept")
		if r.URL.Path != "/apis" || !strings.Contains(accept, aggregated) {
			api.ServeHTTP(w, r)
			return
		}
		var rest []string
		for kind := range strings.SplitSeq(accept, ",") {
			if !strings.Contains(kind, aggregated) {
				rest = append(rest, strings.TrimSpace(kind))
			}
		}
		if len(rest) == 0 {
			http.Error(w, "request the discovery of each API group as application/json", http.StatusNotAcceptable)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Set("Accept", strings.Join(rest, ","))
		api.ServeHTTP(w, r)
	})
}

// aggregated marks a media type of the aggregated discovery document.
const aggregated = "as=APIGroupDiscoveryList"

// definitions describe all kinds of all groups, for kubectl explain and for the API server itself.
func definitions(ref openapicommon.ReferenceCallback) map[string]openapicommon.OpenAPIDefinition {
	all := core.GetOpenAPIDefinitions(ref)
	maps.Copy(all, custommetrics.GetOpenAPIDefinitions(ref))
	maps.Copy(all, externalmetrics.GetOpenAPIDefinitions(ref))
	maps.Copy(all, v1alpha1.GetOpenAPIDefinitions(ref))
	return all
}

// setOpenAPI sets the OpenAPI documents, versions 2 and 3.
func setOpenAPI(config *genericapiserver.Config, inspection *runtime.Scheme) {
	namer := openapinamer.NewDefinitionNamer(adapter.Scheme, inspection)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	config.OpenAPIConfig.Info.Title = name
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	config.OpenAPIV3Config.Info.Title = name
}

// metricsHandler serves our metrics, and the metrics of the API server's libraries that are not among ours.
func metricsHandler(deps Deps) http.Handler {
	endpointmetrics.Register()
	return promhttp.HandlerFor(firstWins{deps.Metrics, legacyregistry.DefaultGatherer},
		promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(deps.Logger.Handler(), slog.LevelError)})
}

// firstWins gathers from several registries, and takes each metric family from the first registry that has it. Both registries have the
// metrics of the process, and a duplicate family would be an error.
type firstWins []prometheus.Gatherer

// Gather returns every family once.
func (g firstWins) Gather() ([]*dto.MetricFamily, error) {
	var (
		all      []*dto.MetricFamily
		problems []error
	)
	seen := make(map[string]bool)
	for _, gatherer := range g {
		families, err := gatherer.Gather()
		problems = append(problems, err)
		for _, family := range families {
			if !seen[family.GetName()] {
				seen[family.GetName()] = true
				all = append(all, family)
			}
		}
	}
	return all, errors.Join(problems...)
}

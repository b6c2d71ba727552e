package apiserver

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/informers"
	adapter "sigs.k8s.io/custom-metrics-apiserver/pkg/apiserver"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"

	"github.com/forewarm/forewarm/pkg/serve/inspect"
	"github.com/forewarm/forewarm/pkg/serve/metricsapi"
)

// name of the API server in its own documents and logs.
const name = "forewarm"

// build completes the configuration and puts every face on the server.
func build(
	config *genericapiserver.Config, shared informers.SharedInformerFactory, groups Groups, deps Deps,
) (*genericapiserver.GenericAPIServer, error) {
	scheme, err := inspect.Scheme()
	if err != nil {
		return nil, err
	}
	describe(config, scheme)
	config.EnableMetrics, config.EnableProfiling = false, false
	health := &readiness{checks: deps.Ready}
	chain := config.BuildHandlerChainFunc
	config.BuildHandlerChainFunc = func(api http.Handler, c *genericapiserver.Config) http.Handler {
		return chain(health.before(plainDiscovery(api)), c)
	}
	metrics := metricsapi.New(deps.Board, deps.Now)
	library := adapter.Config{GenericConfig: config}
	server, err := library.Complete(shared).New(name, custom(groups, metrics), external(groups, metrics))
	if err != nil {
		return nil, fmt.Errorf("metrics APIs: %w", err)
	}
	if err := install(server.GenericAPIServer, scheme, groups, deps); err != nil {
		return nil, err
	}
	return server.GenericAPIServer, nil
}

// install puts what is not the library's on the server.
func install(server *genericapiserver.GenericAPIServer, scheme *runtime.Scheme, groups Groups, deps Deps) error {
	if groups.Inspect {
		if err := server.InstallAPIGroup(inspect.Group(scheme, deps.Board, deps.Now)); err != nil {
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

// custom is nil where the group is not served: an interface that holds a nil provider would be served.
func custom(groups Groups, p *metricsapi.Provider) provider.CustomMetricsProvider {
	if !groups.Custom {
		return nil
	}
	return p
}

func external(groups Groups, p *metricsapi.Provider) provider.ExternalMetricsProvider {
	if !groups.External {
		return nil
	}
	return p
}

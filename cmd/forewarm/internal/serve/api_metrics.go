package serve

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	endpointmetrics "k8s.io/apiserver/pkg/endpoints/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// metricsHandler serves our metrics, and those of the API server's libraries that are not among ours.
func metricsHandler(deps Deps) http.Handler {
	endpointmetrics.Register()
	return promhttp.HandlerFor(firstWins{deps.Metrics, legacyregistry.DefaultGatherer},
		promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(deps.Logger.Handler(), slog.LevelError)})
}

// firstWins gathers from several registries and takes each family from the first that has it: two registries have the
// metrics of the process, and a duplicate family is an error.
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

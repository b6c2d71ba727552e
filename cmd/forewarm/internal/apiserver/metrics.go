package apiserver

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

// metricsHandler serves our metrics, and those of the API server's libraries that ours do not have already.
func metricsHandler(deps Deps) http.Handler {
	endpointmetrics.Register()
	return promhttp.HandlerFor(firstWins{deps.Metrics, legacyregistry.DefaultGatherer},
		promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(deps.Logger.Handler(), slog.LevelError)})
}

// firstWins gathers from several registries; a family that an earlier one has is left out of the later ones. Both of
// ours count the process's memory, and a family twice is an error.
type firstWins []prometheus.Gatherer

// Gather is every family once.
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

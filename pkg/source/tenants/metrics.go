package tenants

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/series"
)

// metrics has the metrics of the sources. Their label is the name in the operator's file, so there are few series.
type metrics struct {
	reloadOK prometheus.Gauge
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
}

func newMetrics() *metrics {
	return &metrics{
		reloadOK: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "forewarm_sources_last_reload_successful",
			Help: "1 if the newest version of the sources file is in use, 0 if it has an error.",
		}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "forewarm_sources_query_duration_seconds",
			Help:    "How long a source took to answer a query, by source.",
			Buckets: []float64{.05, .25, 1, 5, 15, 30, 60},
		}, []string{"source"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "forewarm_sources_query_failures_total",
			Help: "Queries that a source did not answer, or answered only in part, by source.",
		}, []string{"source"}),
	}
}

// Describe implements prometheus.Collector. It needs no file.
func (*Sources) Describe(ch chan<- *prometheus.Desc) {
	m := newMetrics()
	m.reloadOK.Describe(ch)
	m.seconds.Describe(ch)
	m.failures.Describe(ch)
}

// Collect implements prometheus.Collector.
func (s *Sources) Collect(ch chan<- prometheus.Metric) {
	s.metrics.reloadOK.Collect(ch)
	s.metrics.seconds.Collect(ch)
	s.metrics.failures.Collect(ch)
}

func (m *metrics) reloaded(err error) {
	m.reloadOK.Set(0)
	if err == nil {
		m.reloadOK.Set(1)
	}
}

// answered records a query. An answer without series is not a failure of the source.
func (m *metrics) answered(source string, took time.Duration, err error) {
	m.seconds.WithLabelValues(source).Observe(took.Seconds())
	failed := m.failures.WithLabelValues(source)
	if errors.Is(err, series.ErrUnavailable) {
		failed.Inc()
	}
}

func (m *metrics) remove(source string) {
	m.seconds.DeleteLabelValues(source)
	m.failures.DeleteLabelValues(source)
}

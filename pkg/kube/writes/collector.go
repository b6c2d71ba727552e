package writes

import "github.com/prometheus/client_golang/prometheus"

var _ prometheus.Collector = (*Queue)(nil)

// newDesc describes the metric of a kind. Each kind has a description of its own, so that all can be registered.
func newDesc(kind string) *prometheus.Desc {
	return prometheus.NewDesc(
		"forewarm_status_refused_objects",
		"Objects whose status the API server refused at the last attempt: the object is too large, or an admission policy refuses it. "+
			"Only the leader has this metric. Absent for namespaces without such objects.",
		[]string{"namespace"},
		prometheus.Labels{"kind": kind},
	)
}

// Describe implements prometheus.Collector.
func (q *Queue) Describe(out chan<- *prometheus.Desc) { out <- q.desc }

// Collect sends the number of refused objects of each namespace that has any.
func (q *Queue) Collect(out chan<- prometheus.Metric) {
	counts := map[string]int{}
	q.mu.Lock()
	for _, r := range q.objects {
		if r.refused {
			counts[r.namespace]++
		}
	}
	q.mu.Unlock()
	for namespace, n := range counts {
		out <- prometheus.MustNewConstMetric(q.desc, prometheus.GaugeValue, float64(n), namespace)
	}
}

package ownership

import "github.com/prometheus/client_golang/prometheus"

var _ prometheus.Collector = (*Watch)(nil)

// held is 1 where a group leads to forewarm in all of its versions.
var held = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_api_group_held", "Whether the API group leads to this forewarm's service (1) or elsewhere (0).",
	[]string{"group"}, nil)

// Describe implements prometheus.Collector.
func (*Watch) Describe(out chan<- *prometheus.Desc) { out <- held }

// Collect sends a gauge for each group; none while the holders are not known.
func (w *Watch) Collect(out chan<- prometheus.Metric) {
	holdings := w.known()
	if holdings == nil {
		return
	}
	for _, group := range groups() {
		value := 0.0
		if holdings.holds(group, w.own) {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(held, prometheus.GaugeValue, value, group)
	}
}

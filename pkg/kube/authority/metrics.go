package authority

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector measures when this replica's certificate, and the authority's, end.
type Collector struct {
	Secret *Secret
	Leaf   *Leaf
}

var _ prometheus.Collector = Collector{}

var expiryDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_certificate_expiry_timestamp_seconds",
	"When the certificate of this replica's server (serving), and the newest one of its authority (authority), ends.",
	[]string{"certificate"}, nil)

// Describe implements prometheus.Collector.
func (Collector) Describe(out chan<- *prometheus.Desc) { out <- expiryDesc }

// Collect sends a gauge for each; none while it is unknown.
func (c Collector) Collect(out chan<- prometheus.Metric) {
	send := func(certificate string, end time.Time) {
		if !end.IsZero() {
			out <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(end.Unix()), certificate)
		}
	}
	send("serving", c.Leaf.NotAfter())
	if known := c.Secret.known(); known != nil {
		send("authority", known.NotAfter())
	}
}

package aggregation

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/cert"
)

// ExpiryCollector measures when this replica's certificate, and the authority's, end: those of a Secret or, where Secret is nil, those in
// files, which are read at each scrape.
type ExpiryCollector struct {
	Secret *Secret
	Leaf   *Leaf
	// ServingFile and AuthorityFile are PEM files; empty where there is none.
	ServingFile, AuthorityFile string
}

var _ prometheus.Collector = ExpiryCollector{}

var expiryDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
	"forewarm_certificate_expiry_timestamp_seconds",
	"When the certificate of this replica's server (serving), and the newest one of its authority (authority), ends. Where they are "+
		"files, a file that cannot be read has none.",
	[]string{"certificate"},
	nil,
)

// Describe implements prometheus.Collector.
func (ExpiryCollector) Describe(out chan<- *prometheus.Desc) { out <- expiryDesc }

// Collect sends a gauge for each; none while it is unknown.
func (c ExpiryCollector) Collect(out chan<- prometheus.Metric) {
	send := func(certificate string, end time.Time) {
		if !end.IsZero() {
			out <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, float64(end.Unix()), certificate)
		}
	}
	if c.Secret == nil {
		send("serving", endOf(c.ServingFile))
		send("authority", endOf(c.AuthorityFile))
		return
	}
	send("serving", c.Leaf.NotAfter())
	if known := c.Secret.known(); known != nil {
		send("authority", known.NotAfter())
	}
}

// endOf is when the first certificate in a file ends, which is the server's own; zero where none can be read.
func endOf(file string) time.Time {
	if file == "" {
		return time.Time{}
	}
	found, err := cert.CertsFromFile(file)
	if err != nil {
		return time.Time{}
	}
	return found[0].NotAfter
}

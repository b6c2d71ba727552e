package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
	promconfig "github.com/prometheus/prometheus/config"
)

// limits bounds the cost of one job. Prometheus has none by default, and ends the process if a label is longer than 16
// MiB: an answer must be well below that.
type limits struct {
	// body is the decompressed size of an answer, timeout the time for it.
	body    units.Base2Bytes
	timeout model.Duration
	// samples of an answer, targets of the job, labels of a series, bytes of a label's name and value.
	samples, targets, labels, name, value uint
}

// defaultLimits are the limits of a job that sets none: a model server answers with about 100 kB, as does dcgm-exporter
// for eight GPUs.
func defaultLimits() limits {
	return limits{
		body: 4 * units.MiB, timeout: model.Duration(10 * time.Second),
		samples: 50_000, targets: 250, labels: 64, name: 256, value: 4096,
	}
}

// maxLimits are the largest limits that a job may set.
func maxLimits() limits {
	return limits{
		body: 12 * units.MiB, timeout: model.Duration(30 * time.Second),
		samples: 200_000, targets: 1000, labels: 128, name: 1024, value: 65_536,
	}
}

// applyLimits sets the limits of every job. A limit above the maximum is an error.
func applyLimits(jobs []*promconfig.ScrapeConfig) error {
	usual, most := defaultLimits(), maxLimits()
	var problems []error
	for _, job := range jobs {
		problems = append(problems,
			applyLimit(job, "body_size_limit", &job.BodySizeLimit, usual.body, most.body),
			applyLimit(job, "sample_limit", &job.SampleLimit, usual.samples, most.samples),
			applyLimit(job, "target_limit", &job.TargetLimit, usual.targets, most.targets),
			applyLimit(job, "label_limit", &job.LabelLimit, usual.labels, most.labels),
			applyLimit(job, "label_name_length_limit", &job.LabelNameLengthLimit, usual.name, most.name),
			applyLimit(job, "label_value_length_limit", &job.LabelValueLengthLimit, usual.value, most.value),
			applyLimit(job, "scrape_timeout", &job.ScrapeTimeout, usual.timeout, most.timeout),
		)
	}
	return errors.Join(problems...)
}

// applyLimit sets a limit that a job does not set, and refuses one above the maximum.
func applyLimit[T interface {
	uint | units.Base2Bytes | model.Duration
}](job *promconfig.ScrapeConfig, name string, limit *T, usual, most T) error {
	if *limit == 0 {
		*limit = usual
	}
	if *limit > most {
		return fmt.Errorf("job %.64q: %s is %v, want at most %v: scrape fewer series, or run a Prometheus server",
			job.JobName, name, *limit, most)
	}
	return nil
}

// dialTarget connects to a target. The scraper reads an answer that it has refused until the timeout; boundedConn ends
// that.
func dialTarget(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err //nolint:wrapcheck // It has the address and the cause.
	}
	return &boundedConn{Conn: c}, nil
}

// boundedConn fails when an answer, with headers and framing, is longer than any job may allow. It counts from the last
// write, so it is for HTTP/1.
type boundedConn struct {
	net.Conn
	read atomic.Int64
}

var errTooLong = errors.New("the answer is longer than any job may allow")

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.read.Load() > 2*int64(maxLimits().body) {
		return 0, errTooLong
	}
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err //nolint:wrapcheck // It is the connection's.
}

func (c *boundedConn) Write(p []byte) (int, error) {
	c.read.Store(0)
	return c.Conn.Write(p) //nolint:wrapcheck // It is the connection's.
}

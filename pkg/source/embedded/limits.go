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

// limits bound what one job can cost. Prometheus has none by default, and ends the process where a label is longer than 16 MiB:
// an answer must stay well below that.
type limits struct {
	// body of an answer, unpacked, and the time that it may take.
	body    units.Base2Bytes
	timeout model.Duration
	// samples of an answer, targets of the job, labels of a series, bytes of a label's name and value.
	samples, targets, labels, name, value uint
}

// usual are the limits of a job that says nothing: a server of language models answers with some 100 kB, dcgm-exporter for
// eight GPUs with as much.
func usual() limits {
	return limits{
		body: 4 * units.MiB, timeout: model.Duration(10 * time.Second),
		samples: 50_000, targets: 250, labels: 64, name: 256, value: 4096,
	}
}

// most are those that a job may ask for.
func most() limits {
	return limits{
		body: 12 * units.MiB, timeout: model.Duration(30 * time.Second),
		samples: 200_000, targets: 1000, labels: 128, name: 1024, value: 65_536,
	}
}

// limited gives every job its limits. What a job asks beyond the most is an error that names it.
func limited(jobs []*promconfig.ScrapeConfig) error {
	var problems []error
	for _, job := range jobs {
		problems = append(problems,
			within(job, "body_size_limit", &job.BodySizeLimit, usual().body, most().body),
			within(job, "sample_limit", &job.SampleLimit, usual().samples, most().samples),
			within(job, "target_limit", &job.TargetLimit, usual().targets, most().targets),
			within(job, "label_limit", &job.LabelLimit, usual().labels, most().labels),
			within(job, "label_name_length_limit", &job.LabelNameLengthLimit, usual().name, most().name),
			within(job, "label_value_length_limit", &job.LabelValueLengthLimit, usual().value, most().value),
			within(job, "scrape_timeout", &job.ScrapeTimeout, usual().timeout, most().timeout),
		)
	}
	return errors.Join(problems...)
}

// within fills in a limit that a job leaves open, and says where it asks for more than there is.
func within[T interface {
	uint | units.Base2Bytes | model.Duration
}](job *promconfig.ScrapeConfig, name string, limit *T, usual, most T) error {
	if *limit == 0 {
		*limit = usual
	}
	if *limit > most {
		return fmt.Errorf("job %.64q: %s is %v, want at most %v: scrape fewer series of it, or run a Prometheus",
			job.JobName, name, *limit, most)
	}
	return nil
}

// dial connects to a target. The scraper reads on what it has refused, up to the time-out; here that ends.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err //nolint:wrapcheck // It says whom, and why.
	}
	return &cutConn{Conn: c}, nil
}

// cutConn fails after more bytes of one answer than any job may ask for, headers and framing included. It counts from the
// last write, so it is for HTTP/1.
type cutConn struct {
	net.Conn
	read atomic.Int64
}

var errTooLong = errors.New("the answer goes on beyond what any job may ask for")

func (c *cutConn) Read(p []byte) (int, error) {
	if c.read.Load() > 2*int64(most().body) {
		return 0, errTooLong
	}
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err //nolint:wrapcheck // It is the connection's.
}

func (c *cutConn) Write(p []byte) (int, error) {
	c.read.Store(0)
	return c.Conn.Write(p) //nolint:wrapcheck // It is the connection's.
}

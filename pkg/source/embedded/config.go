// Package embedded stores history locally: Prometheus's own storage, query engine and scraper, in-process and on disk,
// so that the same PromQL works without a Prometheus server.
//
//	engine, err := embedded.Open(embedded.Config{Dir: dir, ScrapeFile: "scrape.yml"}, logger)
//	if err != nil { … }
//	defer engine.Close()
//	go engine.Run(ctx)                      // scrapes until ctx ends
//	series, err := engine.Fetch(ctx, query) // one series on the query's grid, NaN for a gap
//
// A value at a time is that of an instant query: the last sample within the lookback. The lookback is twice the longest
// scrape interval and at least a minute, not Prometheus's five minutes, and a target that does not answer ends its
// series at once, so that an outage is a gap. One process owns the directory. Its write-ahead log survives restarts.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"
	promconfig "github.com/prometheus/prometheus/config"
)

// Config is the storage, the targets to scrape, and their limits. The zero value of every field but Dir is its default.
type Config struct {
	// Dir is the directory of the storage; it is created if missing. One process can use it at a time.
	Dir string
	// Retention is how long samples are kept after their time; default 30 days. Keep it longer than the longest history
	// of a Forecast. Samples are deleted in blocks, so somewhat more is kept.
	Retention time.Duration
	// MaxBytes bounds the blocks, the write-ahead log and the chunks of the last hours: after a compaction, every two
	// hours, the oldest blocks are deleted down to it. Default DefaultMaxBytes; at most 80 % of the disk's size.
	MaxBytes int64
	// reserve is the free space below which no sample is stored; default defaultReserve.
	reserve int64

	// ScrapeFile is a Prometheus configuration whose scrape_configs are scraped (static_configs and file_sd_configs,
	// with relabelling), each within limits; its other sections are ignored with a warning. Empty for none.
	ScrapeFile string

	// MaxSeries is how many series the storage has in memory, including those that ended within hours, before a target
	// that keeps creating series is refused; default 300,000, about 500 MB. Scrapes of other targets are not affected.
	MaxSeries uint64

	// Lookback is how long a sample counts if none follows. Default 0 is twice the longest scrape
	// interval, at least a minute. It must be longer than the step of what is backfilled.
	Lookback time.Duration
	// QueryTimeout bounds one query; default 30 s.
	QueryTimeout time.Duration
	// MaxSamples bounds the samples of one query in memory, 16 bytes each; default 20,000,000.
	MaxSamples int
	// MaxPoints is the longest range of one Fetch in steps; default 1,000,000.
	MaxPoints int
}

const (
	defaultRetention    = 30 * 24 * time.Hour
	defaultQueryTimeout = 30 * time.Second
	defaultMaxSamples   = 20_000_000
	defaultMaxPoints    = 1_000_000
	defaultMaxSeries    = 300_000

	// minRetention is the length of the storage's shortest block.
	minRetention = 2 * time.Hour
	minLookback  = time.Minute
)

// Validate returns every problem of the configuration, without reading the scrape file.
func (c Config) Validate() error {
	var problems []error
	if c.Dir == "" {
		problems = append(problems, errors.New("embedded engine: the data directory is not set"))
	}
	if c.Retention != 0 && c.Retention < minRetention {
		const short = "embedded engine: a retention of %v; expected at least %v"
		problems = append(problems, fmt.Errorf(short, c.Retention, minRetention))
	}
	if c.MaxBytes < 0 || c.Lookback < 0 || c.QueryTimeout < 0 || c.MaxSamples < 0 || c.MaxPoints < 0 {
		problems = append(problems, errors.New("embedded engine: times and limits must not be negative"))
	}
	return errors.Join(problems...)
}

func (c Config) withDefaults() Config {
	c.Retention = cmp.Or(c.Retention, defaultRetention)
	c.MaxBytes = cmp.Or(c.MaxBytes, int64(DefaultMaxBytes))
	c.reserve = cmp.Or(c.reserve, defaultReserve)
	c.QueryTimeout = cmp.Or(c.QueryTimeout, defaultQueryTimeout)
	c.MaxSamples = cmp.Or(c.MaxSamples, defaultMaxSamples)
	c.MaxSeries = cmp.Or(c.MaxSeries, defaultMaxSeries)
	c.MaxPoints = cmp.Or(c.MaxPoints, defaultMaxPoints)
	return c
}

// blockRange returns the length of the longest block in milliseconds. Blocks start at two hours and are merged in groups of three, up to a
// tenth of the retention. Expired samples are therefore deleted in small parts.
func (c Config) blockRange() int64 {
	longest := c.Retention.Milliseconds() / 10
	r := minRetention.Milliseconds()
	for r <= math.MaxInt64/3 && r*3 <= longest {
		r *= 3
	}
	return r
}

// limits bounds the cost of one job. Prometheus has no limits by default. It ends the process if a label is longer than 16 MiB, so an
// answer must be much smaller than that.
type limits struct {
	// body limits the decompressed size of an answer, and timeout the time for it.
	body    units.Base2Bytes
	timeout model.Duration
	// These limit the samples of an answer, the targets of the job, the labels of a series, and the bytes of a label's name and value.
	samples, targets, labels, name, value uint
}

// defaultLimits returns the limits of a job that sets none. A model server or dcgm-exporter answers with about 100 kB.
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

// applyLimit sets a limit that a job does not set, and rejects a limit above the maximum.
func applyLimit[T interface {
	uint | units.Base2Bytes | model.Duration
}](job *promconfig.ScrapeConfig, name string, limit *T, usual, most T) error {
	if *limit == 0 {
		*limit = usual
	}
	if *limit > most {
		return fmt.Errorf("job %.64q: %s is %v; expected at most %v: scrape fewer series, or run a Prometheus server",
			job.JobName, name, *limit, most)
	}
	return nil
}

// dialTarget connects to a target. The scraper would read a rejected answer until the timeout; boundedConn ends that.
func dialTarget(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err //nolint:wrapcheck // It has the address and the cause.
	}
	return &boundedConn{Conn: c}, nil
}

// boundedConn fails if an answer is longer than any job may allow. For HTTP/1, it counts the bytes since the last write.
type boundedConn struct {
	net.Conn
	read atomic.Int64
}

var errTooLong = errors.New("the response of the target is longer than the largest limit that a job can set")

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

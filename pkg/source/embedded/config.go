package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// Config is the storage, its limits, the targets to scrape, and the limits of a query. The zero value of every field
// but Dir is its default.
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
		problems = append(problems, errors.New("embedded engine: the directory for its data is not set"))
	}
	if c.Retention != 0 && c.Retention < minRetention {
		problems = append(problems,
			fmt.Errorf("embedded engine: retention %v, want at least %v", c.Retention, minRetention))
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

// blockRange is the length of the longest block in milliseconds: blocks start at two hours and are merged by three, up
// to a tenth of the retention, so that expired samples are deleted in small parts.
func (c Config) blockRange() int64 {
	longest := c.Retention.Milliseconds() / 10
	r := minRetention.Milliseconds()
	for r <= math.MaxInt64/3 && r*3 <= longest {
		r *= 3
	}
	return r
}

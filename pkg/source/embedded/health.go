package embedded

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/scrape"
)

// Health is the state of the engine at the moment, for a readiness check.
type Health struct {
	// Targets that are scraped, by job and URL.
	Targets []TargetHealth
	// Series is the number of series that are being written.
	Series uint64
	// Blocks is the number of blocks on disk.
	Blocks int
	// From and To are the times of the oldest and newest sample; zero where there is none.
	From, To time.Time
}

// TargetHealth is how the last scrape of a target went.
type TargetHealth struct {
	Job, URL string
	// Scraped says that it was tried at all; Err then why it failed, nil if it did not.
	Scraped bool
	Err     error
	At      time.Time
}

// Health tells the state of the engine. It asks no target and runs no query.
func (e *Engine) Health() Health {
	h := Health{Series: e.db.Head().NumSeries()}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, b := range e.db.BlockMetas() {
		h.Blocks++
		first, last = min(first, b.MinTime), max(last, b.MaxTime-1)
	}
	if h.Series > 0 {
		first, last = min(first, e.db.Head().MinTime()), max(last, e.db.Head().MaxTime())
	}
	if first <= last {
		h.From, h.To = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	}
	for job, targets := range e.scraper.TargetsActive() {
		for _, t := range targets {
			h.Targets = append(h.Targets, TargetHealth{
				Job:     job,
				URL:     t.URL().String(),
				Scraped: t.Health() != scrape.HealthUnknown,
				Err:     t.LastError(),
				At:      t.LastScrape(),
			})
		}
	}
	slices.SortFunc(h.Targets, func(a, b TargetHealth) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.URL, b.URL))
	})
	return h
}

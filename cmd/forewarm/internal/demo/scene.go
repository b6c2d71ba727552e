package demo

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
	"github.com/forewarm/forewarm/testdata/traces"
)

// scene is what the demo plays: the series of its workload and the Forecasts on them.
type scene struct {
	metrics   []metric
	manifests map[string]string
	// from is the time of the oldest sample; backfill is the distance between samples of the past, interval the scrape
	// interval.
	from               time.Time
	backfill, interval time.Duration
	// loaded has a sentence for each trace.
	loaded []string
}

// The largest distances between samples: rate(…[1m]) needs two samples in a minute, and 15 s is the interval in
// Prometheus' example configuration.
const (
	maxBackfillStep   = 30 * time.Second
	maxScrapeInterval = 15 * time.Second
)

// ownScene plays the project's own traces.
func ownScene(now time.Time) (*scene, error) {
	requestRate, err := readEmbedded(traces.Requests, "requests")
	if err != nil {
		return nil, err
	}
	busy, err := readEmbedded(traces.GPUBusy, "gpu_busy")
	if err != nil {
		return nil, err
	}
	s := &scene{manifests: map[string]string{"requests.yaml": requestsManifest, "gpu-busy.yaml": gpuBusyManifest}}
	played, err := s.addTrace(traces.Requests, requestRate, now)
	if err != nil {
		return nil, err
	}
	s.metrics = append(s.metrics, requestsMetric(played))
	if played, err = s.addTrace(traces.GPUBusy, busy, now); err != nil {
		return nil, err
	}
	s.metrics = append(s.metrics, gpuBusyMetrics(played)...)
	return s, nil
}

// readEmbedded reads a trace that is embedded in the binary.
func readEmbedded(file, column string) (series forecast.Series, err error) {
	opened, err := traces.Files.Open(file)
	if err != nil {
		return series, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	unzipped, err := gzip.NewReader(opened)
	if err != nil {
		return series, fmt.Errorf("%s: %w", file, err)
	}
	return trace.ReadColumn(unzipped, column)
}

// userScene plays the user's trace.
func userScene(ctx context.Context, o Options, now time.Time) (*scene, error) {
	from := history.Options{Trace: o.Trace, Column: o.Column}
	read, err := from.Read(ctx, o.Stdin, now, nil)
	if err != nil {
		return nil, err
	}
	s := &scene{}
	played, err := s.addTrace(read.Source, read.Series, now)
	if err != nil {
		return nil, err
	}
	s.metrics = []metric{traceMetric(played)}
	s.manifests = map[string]string{"trace.yaml": traceForecast(played, o.Target, now)}
	return s, nil
}

// addTrace adds a trace to the scene and adapts the scene's times to it.
func (s *scene) addTrace(name string, series forecast.Series, now time.Time) (*Playback, error) {
	p, err := NewPlayback(series, now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// No Forecast reads beyond the longest history.
	from := p.Start()
	if oldest := now.Truncate(series.Step).Add(-maxHistory); from.Before(oldest) {
		from = oldest
	}
	if s.from.IsZero() || from.Before(s.from) {
		s.from = from
	}
	step := max(series.Step, time.Second)
	s.backfill = shorter(s.backfill, min(step, maxBackfillStep))
	s.interval = shorter(s.interval, min(step, maxScrapeInterval))
	s.loaded = append(s.loaded, fmt.Sprintf(
		"%s: %s in steps of %s, %s of them in the past",
		name,
		formatDuration(time.Duration(series.Len())*series.Step),
		formatDuration(series.Step),
		formatDuration(now.Sub(p.Start())),
	))
	return p, nil
}

// shorter is the shorter of two durations; the first may be unset.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// formatDuration writes a duration in days, hours or minutes.
func formatDuration(d time.Duration) string {
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%.3g days", d.Hours()/24)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%.3g hours", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.3g minutes", d.Minutes())
	}
	return d.Round(time.Millisecond).String()
}

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
	// from is the time of the oldest sample; samples of the past are interval apart, those of now are scraped so.
	from               time.Time
	backfill, interval time.Duration
	// loaded says what was read, a sentence for each trace.
	loaded []string
}

// The distances between samples: a counter of a minute needs two within each, a scrape is at most that of Prometheus'
// own default configuration.
const (
	mostBackfill = 30 * time.Second
	mostInterval = 15 * time.Second
)

// ownScene plays the project's own traces.
func ownScene(now time.Time) (*scene, error) {
	requestRate, err := own(traces.Requests, "requests")
	if err != nil {
		return nil, err
	}
	busy, err := own(traces.GPUBusy, "gpu_busy")
	if err != nil {
		return nil, err
	}
	s := &scene{manifests: map[string]string{"requests.yaml": requestsManifest, "gpu-busy.yaml": gpuBusyManifest}}
	played, err := s.play(traces.Requests, requestRate, now)
	if err != nil {
		return nil, err
	}
	s.metrics = append(s.metrics, requests(played))
	if played, err = s.play(traces.GPUBusy, busy, now); err != nil {
		return nil, err
	}
	s.metrics = append(s.metrics, gpuBusy(played)...)
	return s, nil
}

// own reads a trace that the binary carries.
func own(file, column string) (series forecast.Series, err error) {
	opened, err := traces.Files.Open(file)
	if err != nil {
		return series, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	unzipped, err := gzip.NewReader(opened)
	if err != nil {
		return series, fmt.Errorf("%s: %w", file, err)
	}
	return trace.Read(unzipped, column)
}

// userScene plays a trace of the user's.
func userScene(ctx context.Context, o Options, now time.Time) (*scene, error) {
	from := history.Options{Trace: o.Trace, Column: o.Column}
	read, err := from.Read(ctx, o.Stdin, now, nil)
	if err != nil {
		return nil, err
	}
	s := &scene{}
	played, err := s.play(read.Source, read.Series, now)
	if err != nil {
		return nil, err
	}
	s.metrics = []metric{gauge(played)}
	s.manifests = map[string]string{"trace.yaml": traceForecast(played, o.Target, now)}
	return s, nil
}

// play lays a trace over the clock and takes up its times.
func (s *scene) play(name string, series forecast.Series, now time.Time) (*Playback, error) {
	p, err := NewPlayback(series, now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// Beyond the longest history nobody asks.
	from := p.Start()
	if oldest := now.Truncate(series.Step).Add(-maxHistory); from.Before(oldest) {
		from = oldest
	}
	if s.from.IsZero() || from.Before(s.from) {
		s.from = from
	}
	step := max(series.Step, time.Second)
	s.backfill, s.interval = shorter(s.backfill, min(step, mostBackfill)), shorter(s.interval, min(step, mostInterval))
	s.loaded = append(s.loaded, fmt.Sprintf("%s: %s in steps of %s, %s of them lie behind now",
		name, say(time.Duration(series.Len())*series.Step), say(series.Step), say(now.Sub(p.Start()))))
	return p, nil
}

// shorter is the shorter of two durations, of which the first may not be set yet.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// say writes a duration as people do: days, or what is below.
func say(d time.Duration) string {
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

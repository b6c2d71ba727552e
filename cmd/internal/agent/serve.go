package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/expose"
)

const (
	// shutdownTimeout is how long requests and a call of the driver may take to finish when the agent stops.
	shutdownTimeout = 400 * time.Millisecond
	// saveInterval is the interval at which the last hour is saved.
	saveInterval = time.Minute
)

// serve reads the GPUs and serves the results until the context ends.
func (p Program) serve(ctx context.Context, o Options, log *slog.Logger) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	before := loadHistory(o.State, log)
	c, end, err := p.newCollector(o, before, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	log.InfoContext(ctx, "serving", "address", listener.Addr().String(), "version", p.version(),
		"interval", o.Collect.Interval, "window", o.Collect.Window, "series_loaded", len(before.Lines))
	if isPID1() {
		log.WarnContext(
			ctx,
			"no other processes are visible, so the use of a shared GPU cannot be split among its pods",
			"hint",
			"set hostPID: true in the agent's pod",
		)
	}
	err = p.run(ctx, o, c, listener, log)
	return errors.Join(err, end())
}

// run runs the loop and the server concurrently, and stops the parts in this order: loop, server, file, library.
func (p Program) run(
	ctx context.Context, o Options, c *collect.Collector, listener net.Listener, log *slog.Logger,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler:           p.handler(o, c.Board()),
		ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 1 << 16,
	}
	read, failed := make(chan struct{}), make(chan error, 1)
	var keeping sync.WaitGroup
	go func() {
		defer close(read)
		ticker := time.NewTicker(o.Collect.Interval)
		defer ticker.Stop()
		c.Step(ctx, time.Now())
		c.Run(ctx, ticker.C)
	}()
	keeping.Go(func() { saveHistory(ctx, o.State, c.Board(), read, log) })
	go func() { failed <- server.Serve(listener) }()

	var err error
	select {
	case <-ctx.Done():
		log.InfoContext(ctx, "stopping")
	case err = <-failed:
		err = fmt.Errorf("%s: %w", listener.Addr(), err)
	}
	cancel()
	rest, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer stop()
	if server.Shutdown(rest) != nil {
		err = errors.Join(err, server.Close())
	}
	keeping.Wait()
	select {
	case <-read:
		return errors.Join(err, p.Driver.Close())
	case <-rest.Done():
		// A call of the driver hangs. When the process ends, the resources are released.
		return err
	}
}

// handler handles all served paths.
func (p Program) handler(o Options, board *collect.Board) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(p.Collectors(o, board)...)
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return expose.Handler(board, registry, maxAge(&o), time.Now)
}

// Collectors are those of the agent's own metrics.
func (p Program) Collectors(o Options, board *collect.Board) []prometheus.Collector {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "forewarm_agent_build_info", Help: "Always 1. The label version has the version of the agent.",
		ConstLabels: prometheus.Labels{"version": p.version(), "go_version": runtime.Version()},
	})
	build.Set(1)
	return []prometheus.Collector{expose.New(board, maxAge(&o), time.Now), build}
}

// loadHistory loads the last hour. If the file cannot be read, it returns an empty hour.
func loadHistory(path string, log *slog.Logger) collect.Hour {
	if path == "" {
		return collect.Hour{}
	}
	before, err := collect.LoadHour(path)
	if err != nil {
		log.Warn("cannot load the data of the last hour; starting without it", "error", err)
	}
	return before
}

// saveHistory saves the last hour every minute, and once more after the last reading.
func saveHistory(ctx context.Context, path string, board *collect.Board, read <-chan struct{}, log *slog.Logger) {
	if path == "" {
		return
	}
	logged := ""
	save := func() {
		picture := board.Load()
		if picture == nil {
			return
		}
		problem := ""
		if err := collect.SaveHour(path, picture.Hour); err != nil {
			problem = err.Error()
		}
		if problem != "" && problem != logged {
			log.WarnContext(ctx, "cannot save the data of the last hour; a restart would lose it", "error", problem)
		}
		logged = problem
	}
	ticker := time.NewTicker(saveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			save()
		case <-ctx.Done():
			select {
			case <-read:
			case <-time.After(shutdownTimeout):
			}
			save()
			return
		}
	}
}

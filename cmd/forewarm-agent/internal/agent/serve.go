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
	"github.com/forewarm/forewarm/pkg/agent/history"
)

const (
	// patience with requests, and with a driver that holds on to a call, when the agent is told to end.
	patience = 400 * time.Millisecond
	// between two times that the hour is written.
	between = time.Minute
)

// serve reads and shows until the context ends.
func (p Program) serve(ctx context.Context, o Options, log *slog.Logger) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	before := remember(o.State, log)
	c, end, err := p.node(o, before, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	log.InfoContext(ctx, "forewarm-agent serves", "address", listener.Addr().String(), "version", p.version(),
		"interval", o.Collect.Interval, "window", o.Collect.Window, "series_remembered", len(before.Lines))
	if alone() {
		log.WarnContext(ctx, "this is process 1: it sees no others, and cannot tell pods apart that share a GPU",
			"hint", "the agent's pod needs hostPID: true")
	}
	err = p.run(ctx, o, c, listener, log)
	return errors.Join(err, end())
}

// run does everything at once, and ends it in order: the loop, the page, the file, the library.
func (p Program) run(
	ctx context.Context, o Options, c *collect.Collector, listener net.Listener, log *slog.Logger,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler:           p.page(o, c.Board()),
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
	keeping.Go(func() { keep(ctx, o.State, c.Board(), read, log) })
	go func() { failed <- server.Serve(listener) }()

	var err error
	select {
	case <-ctx.Done():
		log.InfoContext(ctx, "told to end")
	case err = <-failed:
		err = fmt.Errorf("%s: %w", listener.Addr(), err)
	}
	cancel()
	rest, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	if server.Shutdown(rest) != nil {
		err = errors.Join(err, server.Close())
	}
	keeping.Wait()
	select {
	case <-read:
		return errors.Join(err, p.Driver.Close())
	case <-rest.Done():
		// The driver holds on to a call; it gets what it holds back with the process.
		return err
	}
}

// page is everything that is served.
func (p Program) page(o Options, board *collect.Board) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(p.Collectors(o, board)...)
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return expose.Handler(board, registry, o.stale(), time.Now)
}

// Collectors are the agent's own.
func (p Program) Collectors(o Options, board *collect.Board) []prometheus.Collector {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "forewarm_agent_build_info", Help: "The agent that answers.",
		ConstLabels: prometheus.Labels{"version": p.version(), "go_version": runtime.Version()},
	})
	build.Set(1)
	return []prometheus.Collector{expose.New(board, o.stale(), time.Now), build}
}

// remember loads the hour of before; one that cannot be read is begun anew.
func remember(path string, log *slog.Logger) history.Hour {
	if path == "" {
		return history.Hour{}
	}
	before, err := history.Load(path)
	if err != nil {
		log.Warn("the last hour is not remembered, and begins anew", "cause", err)
	}
	return before
}

// keep writes the hour every minute, and when all that is read was read.
func keep(ctx context.Context, path string, board *collect.Board, read <-chan struct{}, log *slog.Logger) {
	if path == "" {
		return
	}
	said := ""
	save := func() {
		picture := board.Load()
		if picture == nil {
			return
		}
		what := ""
		if err := history.Save(path, picture.Hour); err != nil {
			what = err.Error()
		}
		if what != "" && what != said {
			log.WarnContext(ctx, "the last hour cannot be written, and would not survive a restart", "cause", what)
		}
		said = what
	}
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			save()
		case <-ctx.Done():
			select {
			case <-read:
			case <-time.After(patience):
			}
			save()
			return
		}
	}
}

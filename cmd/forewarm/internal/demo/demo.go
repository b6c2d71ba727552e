package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/apiserver"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/server"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/folder"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Options are what the demo plays and where it serves.
type Options struct {
	// Trace is the user's CSV file, or - for Stdin, and Column the column to play; without a trace the project's own
	// are played.
	Trace, Column string
	Stdin         io.Reader
	// Target is what one replica sustains, in the trace's unit; 0 where unknown.
	Target float64
	// Program is the name by which the user started forewarm, for the commands to try.
	Program string
	// Port on 127.0.0.1; 0 means any free port.
	Port int
}

// Validate returns every problem at once.
func (o Options) Validate() error {
	local := apiserver.StandaloneOptions{Port: o.Port}
	problems := []error{local.Validate()}
	if o.Column != "" && o.Trace == "" {
		problems = append(problems, errors.New("--column needs a trace: add --trace FILE.csv[.gz]"))
	}
	switch {
	case !(o.Target >= 0) || math.IsInf(o.Target, 0):
		problems = append(
			problems,
			fmt.Errorf("--target %v is not a capacity: write what one replica sustains", o.Target),
		)
	case o.Target > 0 && o.Trace == "":
		problems = append(problems, errors.New("--target needs a trace: add --trace FILE.csv[.gz]"))
	}
	return errors.Join(problems...)
}

// Run plays the demo until the context ends, and prints its progress to out.
func Run(ctx context.Context, o Options, out io.Writer, log *slog.Logger) (err error) {
	var clock server.Clock
	tell := &announcer{out: out, clock: clock, started: clock.Now(), program: o.Program}
	s, err := o.scene(ctx, tell.started)
	switch {
	case ctx.Err() != nil:
		return nil // Interrupted while it read a trace: not a failure.
	case err != nil:
		return err
	}
	err = checkPort(ctx, o.Port)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "forewarm-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	for _, sentence := range s.loaded {
		tell.print("Loaded", "%s", sentence)
	}
	st, err := s.build(ctx, dir, tell, log)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // Interrupted while it wrote the past: not a failure.
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, st.engine.Close()) }()
	return st.play(ctx, o, tell, log)
}

func (o Options) scene(ctx context.Context, now time.Time) (*scene, error) {
	if o.Trace == "" {
		return ownScene(now)
	}
	return userScene(ctx, o, now)
}

// checkPort fails early where the port is in use, before slow work starts.
func checkPort(ctx context.Context, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is in use, perhaps by another demo: stop it, or choose another --port "+
			"(0 means any free port): %w", port, err)
	case err != nil:
		return err
	}
	return listener.Close()
}

// stage is a scene that is ready to run.
type stage struct {
	page      *target
	engine    *embedded.Engine
	forecasts *folder.Folder
}

// play runs everything until the context ends.
func (st *stage) play(ctx context.Context, o Options, tell *announcer, log *slog.Logger) error {
	board := &snapshot.Board{}
	deps, err := server.NewDeps(board, nil, log)
	if err != nil {
		return errors.Join(err, st.page.close())
	}
	deps.Ready = append(deps.Ready, server.StorageCheck(st.engine))
	loop, err := refresh.New(refresh.Config{}, st.engine, st.forecasts, board, log)
	if err != nil {
		return errors.Join(err, st.page.close())
	}
	face, err := apiserver.NewStandalone( //nolint:contextcheck // It opens the port and waits for nothing.
		apiserver.StandaloneOptions{Port: o.Port}, deps)
	if err != nil {
		return errors.Join(err, st.page.close())
	}
	return server.RunParts(ctx, log,
		server.Part{Name: "workload", Run: st.page.serve},
		server.Part{Name: "embedded engine", Run: st.engine.Run},
		server.Part{Name: "refresh", Run: func(ctx context.Context) error { return loop.Run(ctx, tell.clock) }},
		server.Part{Name: "server", Run: face.Run},
		server.Part{Name: "announcements", Run: func(ctx context.Context) error {
			return tell.announce(ctx, face.URL(), board)
		}},
	)
}

// build opens the workload's /metrics, backfills an engine in the folder, and writes the Forecasts.
func (s *scene) build(ctx context.Context, dir string, tell *announcer, log *slog.Logger) (*stage, error) {
	page, err := newTarget(ctx, s.metrics, tell.clock.Now)
	if err != nil {
		return nil, err
	}
	forecasts, err := s.forecasts(filepath.Join(dir, "forecasts"), log)
	if err != nil {
		return nil, errors.Join(err, page.close())
	}
	scrape := filepath.Join(dir, "scrape.yaml")
	if err = s.writeScrape(scrape, page.address()); err != nil {
		return nil, errors.Join(err, page.close())
	}
	engine, err := embedded.Open(embedded.Config{Dir: filepath.Join(dir, "data"), ScrapeFile: scrape}, log)
	if err != nil {
		return nil, errors.Join(err, page.close())
	}
	if err := s.backfillPast(ctx, engine, page.address(), tell); err != nil {
		return nil, errors.Join(err, engine.Close(), page.close())
	}
	return &stage{page: page, engine: engine, forecasts: forecasts}, nil
}

// writeScrape writes the scrape configuration.
func (s *scene) writeScrape(path, address string) error {
	interval := model.Duration(s.interval)
	timeout := min(interval, model.Duration(10*time.Second))
	text := fmt.Sprintf("scrape_configs: [{job_name: %s, scrape_interval: %s, scrape_timeout: %s, "+
		"static_configs: [{targets: [%q]}]}]\n", job, interval, timeout, address)
	return os.WriteFile(path, []byte(text), 0o600)
}

// forecasts writes the manifests into a folder and opens it as "forewarm serve" does.
func (s *scene) forecasts(dir string, log *slog.Logger) (*folder.Folder, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	for name, text := range s.manifests {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	catalogue := server.Catalogue{Label: "namespace", Trust: signal.DefaultTrust()}
	return folder.Open(dir, manifest.NewResolver(catalogue), log)
}

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
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Options are what the demo plays and where it serves.
type Options struct {
	// Trace is a CSV file of the user's, or - for what comes on Stdin, and Column the one to play; without a trace the
	// project's own are played.
	Trace, Column string
	Stdin         io.Reader
	// Target is what one replica sustains, in the trace's unit; 0 where it is not known.
	Target float64
	// Program is how the user called forewarm, for the commands to try.
	Program string
	// Port on 127.0.0.1; 0 means any that is free.
	Port int
}

// Validate says everything that is wrong.
func (o Options) Validate() error {
	local := apiserver.StandaloneOptions{Port: o.Port}
	problems := []error{local.Validate()}
	if o.Column != "" && o.Trace == "" {
		problems = append(problems, errors.New("--column is the column of a trace, add --trace FILE.csv[.gz]"))
	}
	switch {
	case !(o.Target >= 0) || math.IsInf(o.Target, 0):
		problems = append(problems, fmt.Errorf("--target %v is no capacity, write what one replica sustains", o.Target))
	case o.Target > 0 && o.Trace == "":
		problems = append(problems, errors.New("--target is of a trace, add --trace FILE.csv[.gz]"))
	}
	return errors.Join(problems...)
}

// Run plays the demo until the context ends. What becomes true is printed to out as it does.
func Run(ctx context.Context, o Options, out io.Writer, log *slog.Logger) (err error) {
	var clock server.Clock
	tell := &announcer{out: out, clock: clock, begun: clock.Now(), program: o.Program}
	s, err := o.scene(ctx, tell.begun)
	switch {
	case ctx.Err() != nil:
		return nil // Interrupted while a trace was being waited for: that is no failure.
	case err != nil:
		return err
	}
	err = probe(ctx, o.Port)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "forewarm-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	for _, sentence := range s.loaded {
		tell.say("Loaded", "%s", sentence)
	}
	st, err := s.build(ctx, dir, tell, log)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // Interrupted while the past was being written: that is no failure.
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

// probe fails where the port is in use, before anything is done that takes time.
func probe(ctx context.Context, port int) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is taken, perhaps by another demo: end that, or choose a port with --port "+
			"(0 is any): %w", port, err)
	case err != nil:
		return err
	}
	return listener.Close()
}

// stage is a scene ready to be played.
type stage struct {
	page      *target
	engine    *embedded.Engine
	forecasts *folder.Folder
}

// play runs everything until the context ends.
func (st *stage) play(ctx context.Context, o Options, tell *announcer, log *slog.Logger) error {
	board := &snapshot.Board{}
	deps, err := server.Deps(board, log)
	if err != nil {
		return errors.Join(err, st.page.close())
	}
	deps.Ready = append(deps.Ready, server.Storing(st.engine))
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
			return tell.whenReady(ctx, face.URL(), board)
		}},
	)
}

// build opens the workload's page, writes the past into an engine in the folder, and the Forecasts beside it.
func (s *scene) build(ctx context.Context, dir string, tell *announcer, log *slog.Logger) (*stage, error) {
	page, err := listen(ctx, s.metrics, tell.clock.Now)
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
	if err := s.fill(ctx, engine, page.address(), tell); err != nil {
		return nil, errors.Join(err, engine.Close(), page.close())
	}
	return &stage{page: page, engine: engine, forecasts: forecasts}, nil
}

// writeScrape writes whom to scrape to a file.
func (s *scene) writeScrape(path, address string) error {
	interval := model.Duration(s.interval)
	timeout := min(interval, model.Duration(10*time.Second))
	text := fmt.Sprintf("scrape_configs: [{job_name: %s, scrape_interval: %s, scrape_timeout: %s, "+
		"static_configs: [{targets: [%q]}]}]\n", job, interval, timeout, address)
	return os.WriteFile(path, []byte(text), 0o600)
}

// forecasts writes the manifests into a folder and reads them as serve does.
func (s *scene) forecasts(dir string, log *slog.Logger) (*folder.Folder, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	for name, text := range s.manifests {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return folder.Open(dir, manifest.NewResolver(server.Catalogue{Label: "namespace"}), log)
}

// Package demo runs all of forewarm on one machine against a simulated demand: a trace, whose past is stored at once and whose rest
// is played faster than life. One clock runs through all of it: the store's samples, the loop's queries, the simulated autoscalers
// and what is served.
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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/refresh"
	"github.com/forewarm/forewarm/pkg/run"
	"github.com/forewarm/forewarm/pkg/serve/apiserver"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
	"github.com/forewarm/forewarm/pkg/source/embedded"
)

// Config says what the demo plays and where it serves.
type Config struct {
	// Fleet plays a GPUFleet instead of a Forecast; of the other fields, Open and Port apply.
	Fleet bool
	// Load is the name of one of the demo's own loads.
	Load string
	// Trace is the user's CSV file, or - for Stdin, to play instead, and Column the column.
	Trace, Column string
	Stdin         io.Reader
	// Target is what one replica sustains, in the trace's unit; 0 where unknown.
	Target float64
	// LeadTime is how long a replica takes to start; 0 for DefaultLeadTime.
	LeadTime time.Duration
	// Speed of the demo's clock, as a multiple of life's.
	Speed float64
	// Open opens the page in the browser.
	Open bool
	// Program is the name by which the user started forewarm, for the commands to try.
	Program string
	// Port on 127.0.0.1; 0 means any free port.
	Port int
}

// DefaultLeadTime is the default time that a replica takes to start; minLeadTime and maxLeadTime limit it.
const (
	DefaultLeadTime          = 8 * time.Minute
	minLeadTime, maxLeadTime = 10 * time.Second, time.Hour
)

// Limits of the speed. Above the maximum, a step would be shorter than its forecast takes.
const minSpeed, maxSpeed = 1, 600

// Validate returns every problem at once.
func (o *Config) Validate() error {
	local := apiserver.StandaloneConfig{Port: o.Port}
	problems := []error{local.Validate()}
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if names := loadNames(); !slices.Contains(names, o.Load) {
		wrong("--load %.64q is not a load: choose %s", o.Load, strings.Join(names, ", "))
	}
	if !(o.Speed >= minSpeed && o.Speed <= maxSpeed) {
		wrong("--speed %v: write a multiple of real time, from %d to %d", o.Speed, minSpeed, maxSpeed)
	}
	if o.LeadTime != 0 && (o.LeadTime < minLeadTime || o.LeadTime > maxLeadTime) {
		wrong("--lead-time %s: write how long a replica takes to start, from %s to %s", o.LeadTime, minLeadTime,
			maxLeadTime)
	}
	if o.Column != "" && o.Trace == "" {
		wrong("--column needs a trace: add --trace FILE.csv[.gz]")
	}
	switch {
	case !(o.Target >= 0) || math.IsInf(o.Target, 0):
		wrong("--target %v is not a capacity: write what one replica sustains", o.Target)
	case o.Target > 0 && o.Trace == "":
		wrong("--target needs a trace: add --trace FILE.csv[.gz]")
	}
	return errors.Join(problems...)
}

// Run plays the demo until the context ends, and prints its progress to out.
func Run(ctx context.Context, o Config, out io.Writer, log *slog.Logger) (err error) {
	tell := &announcer{out: out, options: o}
	tell.started = tell.life.Now()
	tell.load, err = newLoad(ctx, &o, tell.started)
	switch {
	case ctx.Err() != nil:
		return nil // The user interrupted it while it read a trace, which is not a failure.
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

	st, err := build(ctx, dir, tell, log)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil // The user interrupted it while it wrote the past, which is not a failure.
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, st.engine.Close()) }()
	return st.play(ctx, tell, log)
}

// checkPort fails if the port is in use, before slow work begins.
func checkPort(ctx context.Context, port int) error {
	listener, err := listen(ctx, port)
	if err != nil {
		return err
	}
	return listener.Close()
}

// listen opens a port on 127.0.0.1.
func listen(ctx context.Context, port int) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d is in use, perhaps by another demo: stop it, or choose another --port "+
			"(0 means any free port): %w", port, err)
	}
	return listener, err
}

// stage has the parts of a running demo.
type stage struct {
	begin     time.Time
	engine    *embedded.Engine
	feeder    *feeder
	forecasts *manifest.Folder
}

// build stores the past of the load in a folder, and writes the Forecast.
func build(ctx context.Context, dir string, tell *announcer, log *slog.Logger) (st *stage, err error) {
	for _, sentence := range tell.load.about {
		tell.print("Load", "%s", sentence)
	}
	st = &stage{begin: tell.load.begin(tell.options.Speed)}
	if st.forecasts, err = writeForecast(filepath.Join(dir, "forecasts"), tell.load.manifest(st.begin),
		log); err != nil {
		return nil, err
	}
	if st.engine, err = embedded.Open(embedded.Config{Dir: filepath.Join(dir, "data")}, log); err != nil {
		return nil, err
	}
	if st.feeder, err = backfill(ctx, st.engine, tell.load.playback, st.begin); err != nil {
		return nil, errors.Join(err, st.engine.Close())
	}
	return st, nil
}

// writeForecast writes the Forecast into a folder, and opens the folder like "forewarm serve" does.
func writeForecast(dir, text string, log *slog.Logger) (*manifest.Folder, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "forecast.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	signals := catalogue.Signals{Label: "namespace", Trust: signal.DefaultTrust()}
	return manifest.OpenFolder(dir, manifest.NewResolver(signals), log)
}

// learnTime is how long the demo waits until the Forecast has learned from the past. The demo's clock does not run in the meantime.
const learnTime = time.Minute

// play runs everything until the context ends.
func (st *stage) play(ctx context.Context, tell *announcer, log *slog.Logger) error {
	snapshots := &snapshot.Store{}
	loop, err := refresh.New(refresh.Config{Grace: learnTime}, st.engine, st.forecasts, snapshots, log)
	if err != nil {
		return err
	}
	loop.Step(ctx, st.begin)
	now := startClock(st.begin, tell.options.Speed)
	deps, err := apiserver.NewDeps(snapshots, nil, now.Now, log)
	if err != nil {
		return err
	}
	deps.Forecasts = st.forecasts
	alone := func() bool { return false }
	deps.Ready = []run.Check{
		apiserver.HistoryCheck(snapshots, now.Now, alone),
		{Name: "storage", Run: st.engine.StorageError},
	}
	api, err := apiserver.NewStandalone( //nolint:contextcheck // It opens the port and waits for nothing.
		apiserver.StandaloneConfig{Port: tell.options.Port}, deps,
	)
	if err != nil {
		return err
	}
	return run.Parts(ctx, log,
		run.Part{Name: "embedded engine", Run: st.engine.Run},
		run.Part{Name: "demand", Run: func(ctx context.Context) error { return st.feeder.run(ctx, now) }},
		run.Part{Name: "refresh", Run: func(ctx context.Context) error { return loop.Run(ctx, now) }},
		run.Part{Name: "server", Run: api.Run},
		run.Part{Name: "announcements", Run: func(ctx context.Context) error {
			return tell.announce(ctx, api.URL(), snapshots, now)
		}},
	)
}

package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/history"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Reader looks at the GPUs. It never fails: what is wrong is in the reading.
type Reader interface {
	Read(now time.Time) gpu.Reading
}

// Holders knows which containers hold which devices. The reading tells devices' UUIDs to those who know them by index.
type Holders interface {
	Holdings(ctx context.Context, reading gpu.Reading) (pods.Held, error)
}

// Owners knows whose processes are. Look begins a step; the function says false where that cannot be known, and the zero
// Container for the node's own.
type Owners interface {
	Look() func(pid int) (pods.Container, bool)
}

// Config is how a Collector works.
type Config struct {
	// Interval between readings. The driver's buffers hold some seconds: beyond ten, samples may be lost.
	Interval time.Duration
	// Window of the figures; at least two intervals.
	Window time.Duration
}

// DefaultConfig reads every 5 s, so that no buffer runs over and a step costs little, and has half a minute in the figures: as
// long as what scrapes them waits, so that no second is missed.
func DefaultConfig() Config {
	return Config{Interval: 5 * time.Second, Window: 30 * time.Second}
}

// Validate says everything that is wrong.
func (c Config) Validate() error {
	var problems []error
	if c.Interval < time.Second || c.Interval > 10*time.Second {
		problems = append(problems, fmt.Errorf("an interval of %v: want 1s … 10s, as the driver keeps samples for "+
			"some seconds only", c.Interval))
	}
	if c.Window < 2*c.Interval || c.Window > 10*time.Minute {
		problems = append(problems, fmt.Errorf("a window of %v: want two intervals (%v) … 10m", c.Window, 2*c.Interval))
	}
	return errors.Join(problems...)
}

// patience is for how long the holdings that were known last are gone on with while the kubelet does not answer.
const patience = time.Minute

// Collector makes pictures. Step and Run are for one goroutine.
type Collector struct {
	config Config
	deps   Deps

	board    Board
	gauges   gauges
	recorder *history.Recorder
	// hour was made at a step of the history.
	hour   history.Hour
	madeAt int64

	held pods.Held
	// heard is when the kubelet answered last.
	heard time.Time
	// fault and away are what was said last, so that each is said once; since is when the fault began.
	fault string
	away  bool
	since time.Time
}

// Deps are what a Collector works with.
type Deps struct {
	Reader  Reader
	Holders Holders
	Owners  Owners
	// Before is what was recorded before a restart.
	Before history.Hour
	Log    *slog.Logger
}

// New validates the configuration.
func New(config Config, deps Deps) (*Collector, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Collector{
		config: config, deps: deps, gauges: newGauges(config.Window, 2*config.Interval),
		recorder: history.NewRecorder(deps.Before), hour: deps.Before,
	}, nil
}

// Board has the newest picture.
func (c *Collector) Board() *Board { return &c.board }

// Run makes a step at each tick, at the time that the tick says, until the context ends.
func (c *Collector) Run(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks:
			c.Step(ctx, now)
		}
	}
}

// Step reads once and publishes the picture.
func (c *Collector) Step(ctx context.Context, now time.Time) {
	reading := c.deps.Reader.Read(now)
	podsFault := c.ask(ctx, reading)
	parts := pods.Attribute(reading, c.held.Holdings, c.deps.Owners.Look())
	c.say(reading, podsFault, now)

	picture := &Picture{
		Time: now, Driver: reading.Driver, Fault: reading.Fault, Since: c.since,
		PodsFault: podsFault, Held: c.held, GPUs: c.devices(reading), Pods: c.pods(parts, now),
	}
	bound(picture)
	c.gauges.forget(now)
	if step := now.UnixNano() / int64(history.Step); step != c.madeAt {
		c.hour, c.madeAt = c.recorder.Hour(now), step
	}
	picture.Hour = c.hour
	c.board.Store(picture)
}

// ask renews what is held by whom.
func (c *Collector) ask(ctx context.Context, reading gpu.Reading) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Interval/2)
	defer cancel()
	held, err := c.deps.Holders.Holdings(ctx, reading)
	if err == nil {
		c.held, c.heard = held, reading.Time
	} else if reading.Time.Sub(c.heard) > patience {
		c.held = pods.Held{}
	}
	return err
}

// say logs what changed.
func (c *Collector) say(reading gpu.Reading, podsFault error, now time.Time) {
	fault := ""
	if reading.Fault != nil {
		fault = reading.Fault.Message
	}
	if fault != c.fault {
		c.since = now
		if fault != "" {
			c.deps.Log.Warn("no GPU can be read", "reason", reading.Fault.Reason, "cause", fault)
		} else {
			c.deps.Log.Info("the GPUs can be read", "driver", reading.Driver, "gpus", len(reading.GPUs))
		}
	}
	// The words of one failure differ from call to call.
	if away := podsFault != nil; away != c.away {
		if away {
			c.deps.Log.Warn("which pod holds which GPU is not known", "cause", podsFault)
		} else {
			c.deps.Log.Info("the kubelet says which pod holds which GPU")
		}
		c.away = away
	}
	c.fault = fault
}

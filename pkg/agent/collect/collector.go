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

// Holders knows which containers hold which devices.
type Holders interface {
	Holdings(ctx context.Context) ([]pods.Holding, error)
}

// Owner says whose a process is: false where that cannot be known, the zero Container for the node's own.
type Owner func(pid int) (pods.Container, bool)

// Config is how a Collector works.
type Config struct {
	// Interval between readings. The driver's buffers hold some seconds, about twenty where six samples a second are kept:
	// beyond ten, samples may be lost.
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
		problems = append(problems, fmt.Errorf("an interval of %v: want 1s … 10s, as the driver keeps samples for some seconds only", c.Interval))
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
	config  Config
	reader  Reader
	holders Holders
	owner   Owner
	log     *slog.Logger

	board    Board
	gauges   gauges
	recorder *history.Recorder
	// hour was made at a step of the history.
	hour   history.Hour
	madeAt int64

	holdings []pods.Holding
	// heard is when the kubelet answered last.
	heard time.Time
	// faults are what was said last, so that each is said once.
	fault, podsFault string
	since            time.Time
}

// Deps are what a Collector works with.
type Deps struct {
	Reader  Reader
	Holders Holders
	Owner   Owner
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
		config: config, reader: deps.Reader, holders: deps.Holders, owner: deps.Owner, log: deps.Log,
		gauges:   newGauges(config.Window, 2*config.Interval),
		recorder: history.NewRecorder(deps.Before),
		hour:     deps.Before,
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
	reading := c.reader.Read(now)
	podsFault := c.ask(ctx, now)
	parts := pods.Attribute(reading, c.holdings, c.owner)
	c.say(reading, podsFault, now)

	picture := &Picture{
		Time: now, Driver: reading.Driver, Fault: reading.Fault, Since: c.since, PodsFault: podsFault,
		GPUs: c.devices(reading), Pods: c.pods(parts, now),
	}
	bound(picture)
	c.gauges.forget(now)
	if step := now.UnixNano() / int64(history.Step); step != c.madeAt {
		c.hour, c.madeAt = c.recorder.Hour(now), step
	}
	picture.Hour = c.hour
	c.board.Publish(picture)
}

// ask renews what is held by whom.
func (c *Collector) ask(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Interval/2)
	defer cancel()
	holdings, err := c.holders.Holdings(ctx)
	if err == nil {
		c.holdings, c.heard = holdings, now
	} else if now.Sub(c.heard) > patience {
		c.holdings = nil
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
			c.log.Warn("no GPU can be read", "reason", reading.Fault.Reason, "cause", fault)
		} else {
			c.log.Info("the GPUs can be read", "driver", reading.Driver, "gpus", len(reading.GPUs))
		}
	}
	what := ""
	if podsFault != nil {
		what = podsFault.Error()
	}
	if what != c.podsFault {
		if what != "" {
			c.log.Warn("which pod holds which GPU is not known", "cause", what)
		} else {
			c.log.Info("the kubelet says which pod holds which GPU")
		}
	}
	c.fault, c.podsFault = fault, what
}

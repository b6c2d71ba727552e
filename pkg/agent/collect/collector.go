// Package collect is the agent's loop. Each step reads the GPUs and the pods that hold them, and publishes a Picture:
// figures of devices and pods over the window, and their means over the last hour. Handlers serve the newest picture
// without calling the driver; a Prometheus that missed scrapes and an agent that was restarted fill the gap from the hour.
package collect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// Reader reads the GPUs. It never fails: faults are part of the reading.
type Reader interface {
	Read(now time.Time) gpu.Reading
}

// Holders lists which containers hold which devices. The reading maps indexes to UUIDs, if there are only indexes.
type Holders interface {
	Holdings(ctx context.Context, reading gpu.Reading) (pods.Held, error)
}

// Owners maps processes to containers. Lookup starts a step; the function returns false where the container cannot be
// known, and the zero Container for a process of the node itself.
type Owners interface {
	Lookup() func(pid int) (pods.Container, bool)
}

// Config configures a Collector.
type Config struct {
	// Interval between readings. The driver's buffers hold some seconds: beyond ten, samples may be lost.
	Interval time.Duration
	// Window of the figures; at least two intervals.
	Window time.Duration
}

// DefaultConfig reads every 5 s, so that no buffer of the driver overflows and a step costs little. The window is 30 s,
// the usual scrape interval, so that scrapes miss no second.
func DefaultConfig() Config {
	return Config{Interval: 5 * time.Second, Window: 30 * time.Second}
}

// Validate returns every problem at once.
func (c Config) Validate() error {
	var problems []error
	if c.Interval < time.Second || c.Interval > 10*time.Second {
		const interval = "an interval of %v: write 1s to 10s, because the driver keeps samples for only a few seconds"
		problems = append(problems, fmt.Errorf(interval, c.Interval))
	}
	if c.Window < 2*c.Interval || c.Window > 10*time.Minute {
		const window = "a window of %v: write at least two intervals (%v) and at most 10m"
		problems = append(problems, fmt.Errorf(window, c.Window, 2*c.Interval))
	}
	return errors.Join(problems...)
}

// holdingsTimeout is how long the last known holdings are used while the kubelet does not answer.
const holdingsTimeout = time.Minute

// Collector makes pictures. Step and Run must be called from one goroutine.
type Collector struct {
	config Config
	deps   Deps

	board Board
	// windows has the windows of all series. A window without samples is dropped, because its pod or device is gone.
	windows  map[Series]*gpu.Window
	recorder *Recorder
	// hour is the history as of the step historyStep.
	hour        Hour
	historyStep int64

	held pods.Held
	// lastAnswer is the time of the kubelet's last answer.
	lastAnswer time.Time
	// lastFault and kubeletFailing are the last states that were logged; faultSince is the beginning of the fault.
	lastFault      string
	faultSince     time.Time
	kubeletFailing bool
	// logged has the last time at which each kind of failure was logged that may repeat at every step.
	logged map[string]time.Time
}

// Deps are the dependencies of a Collector.
type Deps struct {
	Reader  Reader
	Holders Holders
	Owners  Owners
	// Before is the history from before a restart.
	Before Hour
	Log    *slog.Logger
}

// New validates the configuration.
func New(config Config, deps Deps) (*Collector, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Collector{
		config: config, deps: deps, windows: map[Series]*gpu.Window{}, logged: map[string]time.Time{},
		recorder: NewRecorder(deps.Before), hour: deps.Before,
	}, nil
}

// Board holds the newest picture.
func (c *Collector) Board() *Board { return &c.board }

// Run makes a step at each tick, at the tick's time, until the context ends.
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

// Step reads once and publishes the picture. A panic costs this step: the newest picture stays, and after four intervals without
// another one /healthz fails.
func (c *Collector) Step(ctx context.Context, now time.Time) {
	defer func() {
		if problem := recover(); problem != nil && c.mayLog("step", now) {
			c.deps.Log.ErrorContext(
				ctx,
				"a step panicked, so its values are missing; the agent continues; if this happens again, report it as a bug",
				"panic",
				problem,
				"stack",
				string(debug.Stack()),
			)
		}
	}()
	reading := c.deps.Reader.Read(now)
	podsFault := c.updateHoldings(ctx, reading)
	parts := pods.Attribute(reading, c.held.Holdings, c.deps.Owners.Lookup())
	c.logChanges(reading, podsFault, now)

	picture := &Picture{
		Time: now, Driver: reading.Driver, Fault: reading.Fault, Since: c.faultSince,
		KubeletError: podsFault, Held: c.held, GPUs: c.devices(reading), Pods: c.pods(parts, now),
	}
	capPods(picture)
	maps.DeleteFunc(c.windows, func(_ Series, w *gpu.Window) bool { return w.Empty(now) })
	if step := now.UnixNano() / int64(HistoryStep); step != c.historyStep {
		c.hour, c.historyStep = c.recorder.Hour(now), step
	}
	picture.Hour = c.hour
	c.board.Store(picture)
}

// updateHoldings asks the kubelet which container holds which device. It keeps the last answer for a minute.
func (c *Collector) updateHoldings(ctx context.Context, reading gpu.Reading) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Interval/2)
	defer cancel()
	held, err := c.deps.Holders.Holdings(ctx, reading)
	if err == nil {
		c.held, c.lastAnswer = held, reading.Time
	} else if reading.Time.Sub(c.lastAnswer) > holdingsTimeout {
		c.held = pods.Held{}
	}
	return err
}

// logChanges logs each change of the driver's and the kubelet's state once.
func (c *Collector) logChanges(reading gpu.Reading, podsFault error, now time.Time) {
	fault := ""
	if reading.Fault != nil {
		fault = reading.Fault.Message
	}
	if fault != c.lastFault {
		c.lastFault, c.faultSince = fault, now
		if fault != "" {
			c.deps.Log.Warn("cannot read the GPUs", "reason", reading.Fault.Reason, "error", fault)
		} else {
			c.deps.Log.Info("reading the GPUs", "driver", reading.Driver, "gpus", len(reading.GPUs))
		}
	}
	for i := range reading.GPUs {
		g := &reading.GPUs[i]
		if g.Incomplete == nil {
			continue
		}
		call, _, _ := strings.Cut(g.Incomplete.Message, ":") // The rest of the message may differ at every step.
		if c.mayLog(g.UUID+" "+call, now) {
			c.deps.Log.Warn("a value of a GPU could not be read", "gpu", g.UUID, "reason", g.Incomplete.Reason,
				"error", g.Incomplete.Message)
		}
	}
	// The state is compared and not the message, because the messages of one failure differ from call to call.
	if away := podsFault != nil; away != c.kubeletFailing {
		c.kubeletFailing = away
		if away {
			c.deps.Log.Warn("cannot list the GPUs of each pod", "error", podsFault)
		} else {
			c.deps.Log.Info("the kubelet lists the GPUs of each pod again")
		}
	}
}

// logInterval is how often a failure is logged that may repeat at every step.
const logInterval = time.Hour

// mayLog reports whether a failure of this kind has not been logged for a while. If so, it records that the failure is logged now.
func (c *Collector) mayLog(kind string, now time.Time) bool {
	if last, found := c.logged[kind]; found && now.Sub(last) < logInterval && now.After(last) {
		return false
	}
	maps.DeleteFunc(c.logged, func(_ string, last time.Time) bool { return now.Sub(last) >= logInterval })
	c.logged[kind] = now
	return true
}

// Picture is the agent's state after a step. It is immutable. Its JSON is for programs and leaves out unknown values.
type Picture struct {
	// Time of the reading.
	Time time.Time `json:"time"`
	// Driver is the driver's version; empty where it did not answer.
	Driver string `json:"driver,omitempty"`
	// Fault is why no GPU was read, and Since the time it began; nil where GPUs were read.
	Fault *gpu.Fault `json:"fault,omitempty"`
	Since time.Time  `json:"-"`
	// KubeletError is the kubelet's error; nil where it answered. Held is its last answer.
	KubeletError error     `json:"-"`
	Held         pods.Held `json:"-"`

	// GPUs in the driver's order, each followed by its MIG instances.
	GPUs []Device `json:"gpus"`
	// Pods in the order of devices and names. Their figures are means over the window.
	Pods []pods.Part `json:"pods"`
	// Hour is the recorded history.
	Hour Hour `json:"-"`
}

// Device is a GPU or a MIG instance. Its ratios are its own: 1 is a whole instance.
type Device struct {
	// UUID of the physical GPU; its Index and Model.
	UUID  string `json:"uuid"`
	Index int    `json:"index"`
	Model string `json:"model,omitempty"`
	// Instance is the MIG GPU instance's id, InstanceUUID its own, Profile its name; empty for a whole GPU.
	Instance     string `json:"gpuInstance,omitempty"`
	InstanceUUID string `json:"instanceUUID,omitempty"`
	Profile      string `json:"profile,omitempty"`
	// Share of the physical GPU's compute, 0 … 1.
	Share float64 `json:"share"`
	// Fault is why the device was not read; nil where it was.
	Fault *gpu.Fault `json:"fault,omitempty"`

	Busy      gpu.Summary `json:"busy,omitzero"`
	Bandwidth gpu.Summary `json:"memoryBandwidth,omitzero"`
	Tensor    gpu.Summary `json:"tensor,omitzero"`
	// Memory of the whole GPU or GPU instance.
	Memory gpu.Memory `json:"memory,omitzero"`
}

// Board holds the newest picture; nil before the first.
type Board = atomic.Pointer[Picture]

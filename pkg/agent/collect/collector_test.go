package collect_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/forewarm/forewarm/pkg/agent/collect"
	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// story drives a collector by hand.
type story struct {
	*collect.Collector

	t   testing.TB
	now time.Time
}

func begin(tb testing.TB, n *node, before collect.Hour) *story {
	tb.Helper()
	c, err := collect.New(collect.DefaultConfig(), collect.Deps{
		Reader: n, Holders: n, Owners: n, Before: before, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &story{Collector: c, t: tb, now: noon}
}

// steps makes some, and is the last picture.
func (s *story) steps(n int) *collect.Picture {
	s.t.Helper()
	for range n {
		s.Step(s.t.Context(), s.now)
		s.now = s.now.Add(5 * time.Second)
	}
	return s.Board().Load()
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func flat(value float64) gpu.Summary {
	return gpu.Summary{Mean: value, Max: value, P95: value, Known: true}
}

var approx = cmp.Comparer(near)

func TestAGPUThatOnePodHolds(t *testing.T) {
	n := sharedGPUs(1, 1)
	n.GPUs[0].Processes = nil // no process need be known
	p := begin(t, n, collect.Hour{}).steps(6)
	d := p.GPUs[0]
	got := []gpu.Summary{d.Busy, d.Bandwidth, d.Tensor}
	if diff := cmp.Diff([]gpu.Summary{flat(0.8), flat(0.5), flat(0.3)}, got, approx); diff != "" {
		t.Errorf("busy, bandwidth, tensor: %s", diff)
	}
	want := []pods.Part{{
		Container: container("llama-0-0"), GPU: "GPU-0", Allocated: 1,
		Busy: pods.Figure{Value: 0.8, Known: true}, Bandwidth: pods.Figure{Value: 0.5, Known: true},
	}}
	if diff := cmp.Diff(want, p.Pods, approx); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMIGInstanceCountsByItsShare(t *testing.T) {
	p := begin(t, migGPUs(2), collect.Hour{}).steps(6)
	if len(p.GPUs) != 2*8 || len(p.Pods) != 14 {
		t.Fatalf("%d devices and %d pods, want 16 and 14", len(p.GPUs), len(p.Pods))
	}
	if d := p.GPUs[1]; d.Instance != "7" || !near(d.Busy.Mean, 0.7) || d.Profile != "1g.10gb" {
		t.Errorf("the first instance is %+v", d)
	}
	for _, pod := range p.Pods {
		if !near(pod.Busy.Value, 0.1) || !near(pod.Allocated, 1./7) || !pod.Busy.Known {
			t.Errorf("%+v, want a tenth of a GPU", pod)
		}
	}
}

// The device's mean is over uneven samples and the pods' over readings: whatever lies between them, the pods are not more.
func TestPodsAreNeverMoreThanTheirDevice(t *testing.T) {
	n := sharedGPUs(1, 2)
	s := begin(t, n, collect.Hour{})
	for i := range 50 {
		n.GPUs[0].Busy = math.Abs(math.Sin(float64(i * i)))
		n.GPUs[0].Bandwidth = math.Abs(math.Cos(float64(3 * i)))
		s.now = s.now.Add(time.Duration(i*i%7) * 700 * time.Millisecond)
		p := s.steps(1)
		busy, bandwidth := p.Pods[0].Busy.Value+p.Pods[1].Busy.Value, p.Pods[0].Bandwidth.Value+p.Pods[1].Bandwidth.Value
		if busy > p.GPUs[0].Busy.Mean+1e-12 || bandwidth > p.GPUs[0].Bandwidth.Mean+1e-12 {
			t.Fatalf("step %d: pods %g and %g of %+v", i, busy, bandwidth, p.GPUs[0])
		}
	}
}

// A story: a GPU falls off the bus; its figures run out with its window, the others go on.
func TestAGPUThatIsLost(t *testing.T) {
	n := sharedGPUs(2, 1)
	s := begin(t, n, collect.Hour{})
	s.steps(6)
	n.GPUs[0].Fault = &gpu.Fault{Reason: gpu.OffTheBus}
	p := s.steps(1)
	if p.GPUs[0].Fault == nil || !p.Pods[0].Busy.Known || p.GPUs[1].Fault != nil {
		t.Errorf("at once: %+v, %+v", p.GPUs[0], p.Pods[0])
	}
	p = s.steps(6)
	if p.GPUs[0].Busy.Known || p.Pods[0].Busy.Known || p.Pods[0].Busy.Value != 0 {
		t.Errorf("half a minute later: %+v, %+v", p.GPUs[0], p.Pods[0])
	}
	if !near(p.GPUs[1].Busy.Mean, 0.8) || !near(p.Pods[1].Busy.Value, 0.8) {
		t.Errorf("the other: %+v, %+v", p.GPUs[1], p.Pods[1])
	}
	n.GPUs[0].Fault = nil
	if p = s.steps(1); !near(p.GPUs[0].Busy.Mean, 0.8) || !p.Pods[0].Busy.Known {
		t.Errorf("after a reset: %+v, %+v", p.GPUs[0], p.Pods[0])
	}
}

func TestAMissingLibrary(t *testing.T) {
	n := sharedGPUs(1, 1)
	n.Fault = &gpu.Fault{Reason: gpu.LibraryMissing, Message: "libnvidia-ml.so.1"}
	s := begin(t, n, collect.Hour{})
	first := s.now
	p := s.steps(10)
	if p.Fault == nil || !p.Since.Equal(first) || len(p.GPUs) != 0 {
		t.Errorf("%+v", p)
	}
	// The kubelet still says what is held of which GPU.
	if len(p.Pods) != 1 || p.Pods[0].Busy.Known || p.Pods[0].Allocated != 1 {
		t.Errorf("%+v", p.Pods)
	}
}

func TestAKubeletThatIsAwayIsBridgedForAMinute(t *testing.T) {
	n := sharedGPUs(1, 1)
	s := begin(t, n, collect.Hour{})
	s.steps(1)
	held := n.Held
	n.Held, n.KubeletError = nil, errors.New("connection refused")
	if p := s.steps(12); len(p.Pods) != 1 || p.KubeletError == nil {
		t.Errorf("after a minute: %+v, %v", p.Pods, p.KubeletError)
	}
	if p := s.steps(1); len(p.Pods) != 0 {
		t.Errorf("after more than a minute: %+v", p.Pods)
	}
	n.Held, n.KubeletError = held, nil
	if p := s.steps(1); len(p.Pods) != 1 || p.KubeletError != nil {
		t.Errorf("after it came back: %+v, %v", p.Pods, p.KubeletError)
	}
}

func TestTheHourGoesOnAfterARestart(t *testing.T) {
	s := begin(t, sharedGPUs(1, 1), collect.Hour{})
	again := begin(t, sharedGPUs(1, 1), s.steps(100).Hour)
	again.now = s.now.Add(2 * time.Minute)
	lines := again.steps(20).Hour.Lines
	last := lines[len(lines)-1]
	gaps := 0
	for _, mean := range last.Means {
		if math.IsNaN(float64(mean)) {
			gaps++
		}
	}
	// 500 s, a gap of 120 s, 100 s in steps of 15 s.
	if n := len(last.Means); n < 46 || n > 48 || gaps < 7 || gaps > 9 || !last.End(0).Equal(noon.Add(15*time.Second)) {
		t.Errorf("%d points from %v on, %d of them gaps", n, last.End(0), gaps)
	}
}

func TestRunStepsOnTicksAndEnds(t *testing.T) {
	s := begin(t, sharedGPUs(1, 1), collect.Hour{})
	ctx, cancel := context.WithCancel(t.Context())
	ticks, over := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(over)
		s.Run(ctx, ticks)
	}()
	ticks <- s.now
	ticks <- s.now.Add(5 * time.Second)
	cancel()
	<-over
	if p := s.Board().Load(); p == nil || p.Time.Before(s.now) {
		t.Errorf("%+v", p)
	}
}

func TestAConfigSaysEverythingThatIsWrong(t *testing.T) {
	err := collect.Config{Interval: time.Minute, Window: time.Second}.Validate()
	if err == nil || !strings.Contains(err.Error(), "interval of 1m0s") ||
		!strings.Contains(err.Error(), "window of 1s") {
		t.Errorf("%v", err)
	}
	if err = collect.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

// breakable is a reader that panics while it is told to.
type breakable struct {
	*node

	broken bool
}

func (b *breakable) Read(now time.Time) gpu.Reading {
	if b.broken {
		panic("slice bounds out of range [:3] with capacity 2")
	}
	return b.node.Read(now)
}

// A panic costs its step. The agent lives, keeps the newest picture, and logs once an hour.
func TestAPanicCostsOneStep(t *testing.T) {
	var log strings.Builder
	b := &breakable{node: sharedGPUs(1, 1)}
	c, err := collect.New(collect.DefaultConfig(), collect.Deps{
		Reader: b, Holders: b, Owners: b, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &story{Collector: c, t: t, now: noon}
	before := s.steps(2)
	b.broken = true
	if p := s.steps(3); p != before {
		t.Errorf("the picture of %v was replaced by that of %v", before.Time, p.Time)
	}
	b.broken = false
	if p := s.steps(1); p == before || !p.Pods[0].Busy.Known {
		t.Errorf("after the panics: %+v", p)
	}
	b.broken = true
	s.steps(2)
	if n := strings.Count(log.String(), "capacity 2"); n != 1 || !strings.Contains(log.String(), "a step panicked") {
		t.Errorf("five panics within a minute are logged %d times, want once:\n%s", n, &log)
	}
	s.now = s.now.Add(time.Hour)
	s.steps(1)
	if n := strings.Count(log.String(), "capacity 2"); n != 2 {
		t.Errorf("a panic an hour later is logged %d times in all, want twice", n)
	}
}

// A value that could not be read is logged once an hour for each GPU and call, whatever numbers its message has.
func TestAMissingValueIsLoggedOnceAnHour(t *testing.T) {
	var log strings.Builder
	n := sharedGPUs(2, 1)
	c, err := collect.New(collect.DefaultConfig(), collect.Deps{
		Reader: n, Holders: n, Owners: n, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &story{Collector: c, t: t, now: noon}
	miss := func(i int, call string, number int) {
		n.GPUs[i].Incomplete = &gpu.Fault{
			Reason:  gpu.Unknown,
			Message: fmt.Sprintf("%s: panic: [:%d]: retries", call, number),
		}
	}
	lines := func() int { return strings.Count(log.String(), "a value of a GPU could not be read") }
	for i := range 5 {
		miss(0, "nvmlDeviceGetProcessUtilization", i)
		s.steps(1)
	}
	if got := lines(); got != 1 {
		t.Errorf("one call in five steps: %d lines, want 1", got)
	}
	miss(0, "nvmlDeviceGetSamples", 0)
	miss(1, "nvmlDeviceGetSamples", 0)
	s.steps(2)
	if got := lines(); got != 3 {
		t.Errorf("then another call on two GPUs: %d lines, want 3", got)
	}
	s.now = s.now.Add(time.Hour)
	s.steps(1)
	if got := lines(); got != 5 {
		t.Errorf("an hour later: %d lines, want 5", got)
	}
	if !strings.Contains(log.String(), "GPU-1") {
		t.Errorf("the log does not name the GPU:\n%s", &log)
	}
}

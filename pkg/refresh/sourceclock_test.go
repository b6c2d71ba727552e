package refresh_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// wrongClockSource is a store whose clock is off. It gives the demand the times of its own clock; a sample counts for five minutes.
type wrongClockSource struct {
	mu          sync.Mutex
	off         time.Duration
	takes       time.Duration // until it has told the time
	silent, out bool          // it does not tell the time, it does not answer
	asked       []time.Time
	fetched     int
}

func (s *wrongClockSource) now() time.Time { return time.Now().Add(s.off) }

func (s *wrongClockSource) Fetch(_ context.Context, q refresh.Query) (forecast.Series, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched++
	if s.out {
		return forecast.Series{}, fmt.Errorf("connection refused: %w", series.ErrUnavailable)
	}
	return answer(q, func(at time.Time) float64 {
		if at.After(s.now().Add(5 * time.Minute)) {
			return math.NaN()
		}
		return daily(at.Add(-s.off))
	}), nil
}

func (s *wrongClockSource) SourceClock(context.Context, string, refresh.SourceRef) (time.Time, error) {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, time.Now())
	if s.silent || s.out {
		return time.Time{}, series.ErrUnavailable
	}
	return s.now(), nil
}

// A source whose clock differs from Forewarm's is reported as that, in both directions. The clock is read at most every five minutes.
func TestTheClockOfASourceDiffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		source *wrongClockSource
		state  snapshot.State
		reason string
		// source and ready are in the messages of the conditions, not is in none.
		says, ready []string
		not         string
	}{
		{"equal", &wrongClockSource{}, snapshot.Ready, "Answering", nil, nil, "clock"},
		{"behind by less than a step", &wrongClockSource{off: -50 * time.Second}, snapshot.Ready, "Answering", nil, nil, "clock"},
		{"ahead by less than a step", &wrongClockSource{off: 50 * time.Second}, snapshot.Ready, "Answering", nil, nil, "clock"},
		{"equal, and slow to tell", &wrongClockSource{takes: 4 * time.Minute}, snapshot.Ready, "Answering", nil, nil, "clock"},
		{
			"behind by more than a step", &wrongClockSource{off: -2 * time.Minute}, snapshot.Ready, "ClockDiffers",
			[]string{"the clock of the source is 2m behind the clock of Forewarm", "NTP"},
			nil, "",
		},
		{
			"behind, so that samples look old", &wrongClockSource{off: -10 * time.Minute}, snapshot.FallingBack, "ClockDiffers",
			[]string{"the clock of the source is 10m behind the clock of Forewarm", "NTP", "look 10m older than they are"},
			[]string{"old", "the clock of the source is 10m behind the clock of Forewarm", "NTP"},
			"check the source",
		},
		{
			"behind, so that nothing is served", &wrongClockSource{off: -20 * time.Minute}, snapshot.Stale, "ClockDiffers",
			[]string{"the clock of the source is 20m behind the clock of Forewarm"},
			[]string{"Forewarm serves no value", "the clock of the source is 20m behind the clock of Forewarm", "NTP"},
			"check the source",
		},
		{
			"ahead, so that samples are older than they look", &wrongClockSource{off: 10 * time.Minute}, snapshot.Ready, "ClockDiffers",
			[]string{"the clock of the source is 10m ahead of the clock of Forewarm", "NTP", "10m older than they look"},
			nil, "",
		},
		{
			"ahead, and slow to tell", &wrongClockSource{off: 10 * time.Minute, takes: time.Minute}, snapshot.Ready, "ClockDiffers",
			[]string{"10m ahead of the clock of Forewarm"},
			nil, "",
		},
		{"it does not tell the time", &wrongClockSource{off: -20 * time.Minute, silent: true}, snapshot.Stale, "Answering", nil, []string{"check the source"}, "clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				loop, snapshots := loopWith(
					t,
					refresh.Config{Timeout: 5 * time.Minute},
					c.source,
					fixedJobs{jobOf("llama")},
				)
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan error, 1)
				go func() { over <- loop.Run(ctx, bubbleClock{}) }()
				time.Sleep(31 * time.Minute)
				synctest.Wait()
				e := entry(t, snapshots.Load(), "llama")
				source, ready := condition(t, e, snapshot.ConditionSource), condition(t, e, snapshot.ConditionReady)
				if e.State != c.state || source.Reason != c.reason || source.True != (c.reason == "Answering") {
					t.Errorf("%s, %+v, want %s and %s", e.State, source, c.state, c.reason)
				}
				for _, word := range c.says {
					if !strings.Contains(source.Message, word) {
						t.Errorf("SourceHealthy %q does not say %q", source.Message, word)
					}
				}
				for _, word := range c.ready {
					if !strings.Contains(ready.Message, word) {
						t.Errorf("Ready %q does not say %q", ready.Message, word)
					}
				}
				if both := source.Message + ready.Message; c.not != "" && strings.Contains(both, c.not) {
					t.Errorf("%q says %q", both, c.not)
				}
				ahead, known := snapshots.Load().Loop.Clocks[""]
				if known == c.source.silent || known && (ahead.Min > c.source.off || ahead.Max < c.source.off) {
					t.Errorf("the clock is told to be ahead by %v (%t), want %s", ahead, known, c.source.off)
				}
				c.source.mu.Lock()
				if n := len(c.source.asked); n < 6 || n > 7 {
					t.Errorf("the clock was read %d times in half an hour, at %v", n, c.source.asked)
				}
				c.source.mu.Unlock()
				cancel()
				if err := <-over; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The clock is set right, then the source goes away: what is said follows within five minutes, and an error of the source comes first.
func TestTheClockOfASourceIsSetRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wrongClockSource{off: -10 * time.Minute}
		loop, snapshots := loopWith(t, refresh.Config{}, s, fixedJobs{jobOf("llama")})
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- loop.Run(ctx, bubbleClock{}) }()
		after := func(span, off time.Duration, out bool) snapshot.Condition {
			s.mu.Lock()
			s.off, s.out = off, out
			s.mu.Unlock()
			time.Sleep(span)
			synctest.Wait()
			return condition(t, entry(t, snapshots.Load(), "llama"), snapshot.ConditionSource)
		}
		if c := after(6*time.Minute, -10*time.Minute, false); c.Reason != "ClockDiffers" {
			t.Errorf("at first: %+v", c)
		}
		if c := after(time.Hour, 0, false); !c.True {
			t.Errorf("with the clock right: %+v", c)
		}
		after(6*time.Minute, -10*time.Minute, false)
		if c := after(
			6*time.Minute,
			-10*time.Minute,
			true,
		); c.Reason != "Unavailable" ||
			!strings.Contains(c.Message, "refused") {
			t.Errorf("with the source away: %+v", c)
		}
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}

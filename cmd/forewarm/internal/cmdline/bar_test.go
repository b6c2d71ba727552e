package cmdline_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/printable"
)

// clock is moved by hand.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) after(d time.Duration) { c.now = c.now.Add(d) }

func TestLinesNowAndThen(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	bar := cmdline.NewProgressBar(&out, false, c.Now)
	bar.Begin("holt-winters", 8)
	for range 8 { // Forty seconds: a line every ten of them.
		c.after(5 * time.Second)
		bar.Add(1)
	}
	bar.Begin("arima", 3)
	for range 3 { // Too short to speak of.
		c.after(3 * time.Second)
		bar.Add(1)
	}
	bar.End()
	want := "holt-winters: 25 %, about 30 s left\n" +
		"holt-winters: 50 %, about 20 s left\n" +
		"holt-winters: 75 %, about 10 s left\n" +
		"holt-winters: 100 %\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBarOnTerminal(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	bar := cmdline.OnTerminal(&out, 100, c.Now)
	bar.Begin("reading", 200)
	c.after(50 * time.Millisecond)
	bar.Add(1) // Not drawn: the last drawing is too young.
	c.after(3 * time.Hour)
	bar.SetTask("reading on")
	c.after(time.Hour)
	bar.Add(99)
	bar.End()
	bar.End()
	want := []string{
		"▕····················▏  0 %  reading",
		"▕····················▏  0 %  reading on", // Half a percent says nothing of the rest.
		"▕██████████··········▏ 50 %, about 4.0 h left  reading on",
		"",
	}
	if diff := cmp.Diff(want, strings.Split(out.String(), "\r\x1b[K")[1:]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBarKeepsToItsLine(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	cmdline.OnTerminal(&out, 40, c.Now).Begin(strings.Repeat("långt ", 20), 1)
	line := strings.TrimPrefix(out.String(), "\r\x1b[K")
	if n := utf8.RuneCountInString(line); n != 39 {
		t.Errorf("%d columns of 40, want 39: %q", n, line)
	}
}

// What is worked on has a name by somebody else, and the bar's own commands go past what would escape them.
func TestBarKeepsItsCommandsToItself(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	bar := cmdline.OnTerminal(printable.NewWriter(&out), 100, c.Now)
	bar.Begin("\x1b[2J\u202e\n", 1)
	bar.End()
	const erase = "\r\x1b[K"
	if diff := cmp.Diff(erase+"▕····················▏  0 %  \\u001b[2J\\u202e\\u000a"+erase, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTimeLeftIsRough(t *testing.T) {
	for _, c := range []struct {
		name    string
		elapsed time.Duration
		want    string
	}{
		{"seconds", 10 * time.Second, "w: 50 %, about 10 s left\n"},
		{"five seconds", 42 * time.Second, "w: 50 %, about 40 s left\n"},
		{"minutes", 100 * time.Second, "w: 50 %, about 2 min left\n"},
		{"hours", 150 * time.Minute, "w: 50 %, about 2.5 h left\n"},
	} {
		var out bytes.Buffer
		clock := &clock{now: time.Unix(0, 0)}
		bar := cmdline.NewProgressBar(&out, false, clock.Now)
		bar.Begin("w", 2)
		clock.after(c.elapsed)
		bar.Add(1)
		if diff := cmp.Diff(c.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestQuiet(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	bar := cmdline.NewProgressBar(&out, true, c.Now)
	bar.Begin("work", 1)
	c.after(time.Hour)
	bar.SetTask("more of it")
	bar.Add(1)
	bar.End()
	if out.Len() > 0 {
		t.Errorf("%q, want silence", out.String())
	}
}

// Folds end on several goroutines; more of them than were announced are still all of the work.
func TestSeveralAtOnce(t *testing.T) {
	var out bytes.Buffer
	c := &clock{now: time.Unix(0, 0)}
	bar := cmdline.NewProgressBar(&out, false, c.Now)
	bar.Begin("work", 90)
	c.after(time.Minute)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { bar.Add(1) })
	}
	all.Wait()
	c.after(time.Minute)
	bar.Add(1)
	if !strings.HasSuffix(out.String(), "work: 100 %\n") {
		t.Errorf("%q, want all of it", out.String())
	}
}

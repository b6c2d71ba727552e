package demo //nolint:testpackage // What the demo plays is internal.

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/offline/simulate/fleet"
)

// On the last working day, batch runs fill the night, and have given their GPUs back when the members' ramp is over. None of them is killed
// in the ramp.
func TestBatchWorkIsGoneBeforeTheMorning(t *testing.T) {
	d, err := playFleet(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := time.Date(2026, time.January, 16, 0, 0, 0, 0, time.UTC)
	if !d.start.Equal(want) || len(d.moments) != 24*60*4 {
		t.Fatalf("%d steps from %v, want one every 15 s of %v", len(d.moments), d.start, want)
	}
	for i := range d.moments {
		if m := &d.moments[i]; m.Members < 1 || m.Batch < 0 || m.Members+m.Batch > fleetGPUs {
			t.Fatalf("at %v, members hold %v GPUs and batch runs %v", m.At, m.Members, m.Batch)
		}
		if m := &d.moments[i]; m.At.Hour() < 7 && m.Members+m.Batch < 0.9*fleetGPUs {
			t.Errorf("at %v, members hold %v GPUs and batch runs only %v", m.At, m.Members, m.Batch)
		}
	}
	last, begin, peak := d.ramp()
	ordered := last.At.Before(begin.At) && begin.At.Before(peak.At)
	if !ordered || peak.At.Hour() > 10 || peak.Members < 2.5*begin.Members {
		t.Errorf("last starts %+v, ramp %+v, peak %+v", last, begin, peak)
	}
	if begin.Batch > 10 || peak.Batch > 1 {
		t.Errorf("batch runs hold %v GPUs when the ramp begins and %v at its peak", begin.Batch, peak.Batch)
	}
	if started, killed := d.runs(last.At.Add(1), peak.At.Add(1)); started != 0 || killed != 0 {
		t.Errorf("%d batch runs start before the peak and %d are killed, want none", started, killed)
	}
	started, killed := d.runs(d.start, d.start.Add(day))
	if started < 1500 || killed > started/100 || killed > d.preempted/4 {
		t.Errorf("%d of %d batch runs are killed on the day, %d without a plan", killed, started, d.preempted)
	}
	ours, static := d.result.Find(fleet.Forewarm), d.result.Find(fleet.Static)
	if ours.Done < 1.25*static.Done || ours.Killed > d.result.Find(fleet.Reactive).Killed/10 {
		t.Errorf("Forewarm %+v, static %+v", ours, static)
	}
}

func TestTheLastWorkingDay(t *testing.T) {
	for end, want := range map[string]string{
		"2026-01-19T00:00:00Z": "2026-01-16", "2026-01-20T00:00:00Z": "2026-01-19", "2026-01-21T13:00:00Z": "2026-01-20",
		"2026-01-18T23:00:00Z": "2026-01-16", "2026-01-17T00:00:00+01:00": "2026-01-15",
	} {
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastWorkingDay(at).Format(time.DateOnly); got != want {
			t.Errorf("before %s it is %s, want %s", end, got, want)
		}
	}
}

// The terminal and the page show the same day. The page loads nothing from elsewhere, and is served until the demo is interrupted.
func TestDemoOfAFleet(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &processtest.LogBuffer{}, make(chan error, 1)
	go func() { done <- runFleet(ctx, Config{}, out, nil) }()
	serving := regexp.MustCompile(`(?m)^Serving +(http://\S+), the page`)
	for deadline := time.Now().Add(time.Minute); !serving.MatchString(out.String()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) || len(done) > 0 {
			t.Fatalf("the demo does not serve:\n%s", out)
		}
	}
	address := serving.FindStringSubmatch(out.String())[1]
	code, body := get(t, address, "/")
	if code != http.StatusOK {
		t.Errorf("status %d: %s", code, body)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"56 GPUs on Friday 16 January 2026 (UTC)", "Forewarm started the last ones before the morning at 0"} {
		if !strings.Contains(body, want) || !strings.Contains(text, want) {
			t.Errorf("the page or the terminal has no %q:\n%s", want, out)
		}
	}
	if !strings.Contains(out.String(), " ░") || strings.Count(body, "<table>") != 2 {
		t.Errorf("no plot, or not two tables:\n%s\n%s", out, body)
	}
	checkSVG(t, body)
	if found := regexp.MustCompile(`<script|(?:src|href)=`).FindString(body); found != "" {
		t.Errorf("the page has %s", found)
	}
	if code, _ := get(t, address, "/other"); code != http.StatusNotFound {
		t.Errorf("another path: status %d", code)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the demo ended with: %v", err)
	}
}

// checkSVG fails unless a page has a well-formed chart with both areas.
func checkSVG(t *testing.T, page string) {
	t.Helper()
	from, to := strings.Index(page, "<svg"), strings.LastIndex(page, "</svg>")
	if from < 0 || to < from {
		t.Fatal("no chart")
	}
	classes := map[string]bool{}
	for decoder := xml.NewDecoder(bytes.NewBufferString(page[from : to+len("</svg>")])); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if element, ok := token.(xml.StartElement); ok && element.Name.Local == "path" {
			for _, a := range element.Attr {
				classes[a.Value] = classes[a.Value] || a.Name.Local == "class"
			}
		}
	}
	for _, class := range []string{"demand", "idle", "paid", "now"} {
		if !classes[class] {
			t.Errorf("the chart has no %s", class)
		}
	}
}

func TestAnInterruptedDemoOfAFleetIsNoFailure(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	interrupt := writerFunc(func(p []byte) (int, error) { cancel(); return out.Write(p) })
	if err := runFleet(ctx, Config{}, interrupt, nil); err != nil || strings.Contains(out.String(), "Serving") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// writerFunc is a function that is an [io.Writer].
type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

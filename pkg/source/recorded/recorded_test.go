package recorded_test

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
	"github.com/forewarm/forewarm/pkg/source/recorded"
	"github.com/forewarm/forewarm/pkg/source/recorded/recordedtest"
)

// now is not on the minute: the range must be.
var now = time.Date(2026, 3, 1, 12, 0, 42, 0, time.UTC)

// read reads a range by the minute.
func read(ctx context.Context, url, query string, length time.Duration) (recorded.History, error) {
	of := recorded.Range{
		Prometheus: prometheus.Config{URL: url, Timeout: 30 * time.Second},
		Query:      query, Length: length, Step: time.Minute, End: now,
	}
	return of.Read(ctx, func(int) {})
}

func TestTrace(t *testing.T) {
	const content = "t,a,b\n1767571200,1,9\n1767571260,,9\n1767571320,3,9\n"
	got, err := recorded.Trace{Name: "load.csv", Column: "a"}.Read(strings.NewReader(content))
	want := recorded.History{
		Series: forecast.Series{
			Start: time.Unix(1767571200, 0).UTC(), Step: time.Minute, Values: []float64{1, math.NaN(), 3},
		},
		Source: "load.csv, column a",
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for text, wanted := range map[string]string{
		content:                           "choose one with --column: a, b",
		"":                                "load.csv: ",
		"t,a\n1767571200,\n1767571260,\n": "the history has no values",
	} {
		h, err := recorded.Trace{Name: "load.csv"}.Read(strings.NewReader(text))
		if err == nil {
			_, err = recorded.Judged(h)
		}
		if err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%q: %v, want %q", text, err, wanted)
		}
	}
}

// A verdict wants a week between the first and the last value, half of it known.
func TestTooShort(t *testing.T) {
	for _, c := range []struct {
		hours, from, every int
		want               string
	}{
		{5, 0, 1, "Too short to judge: the history covers 5 hours, and at least a week is needed."},
		{167, 0, 1, ""}, // A sample of the range's first hour may be missing.
		{336, 331, 1, "Too short to judge: the history covers 5 hours, and at least a week is needed."},
		{200, 0, 2, ""},
		{200, 0, 4, "Too short to judge: the history covers 4.17 days, and at least a week is needed."},
	} {
		h := recorded.History{Series: forecast.Series{Step: time.Hour}}
		for i := range c.hours {
			v := math.NaN()
			if i >= c.from && i%c.every == 0 {
				v = 1
			}
			h.Values = append(h.Values, v)
		}
		if got := h.TooShort(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// counting is a demand that is the minute since the range began.
func counting(at time.Time) float64 {
	return at.Sub(now.Truncate(time.Minute).Add(-48 * time.Hour)).Minutes()
}

func TestPrometheus(t *testing.T) {
	url := serve(t, &recordedtest.Prometheus{Demand: func(at time.Time) float64 {
		if v := counting(at); v != 7 {
			return v - 5 // Five are negative: one of them is 0, and one is missing.
		}
		return math.NaN()
	}})
	got, err := read(t.Context(), url, "sum(load)", 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != 2880 || got.Step != time.Minute || !got.TimeAt(got.Len()-1).Equal(now.Truncate(time.Minute)) {
		t.Errorf("%d steps of %s to %s", got.Len(), got.Step, got.End())
	}
	if last := got.Values[2879]; last != 2875 {
		t.Errorf("the last value is %v, want 2875", last)
	}
	got, err = recorded.Judged(got)
	if err != nil {
		t.Fatal(err)
	}
	notes := []string{
		"4 samples are negative: check the query for a subtraction or a delta(); Forewarm treats such samples as gaps",
		"5 of 2880 values are gaps",
	}
	if diff := cmp.Diff(notes, got.Notes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	about := "sum(load) at " + url + ": 2 days from 2026-02-27 12:01 UTC, every minute, 2,875 values from 0 to 2875, 5 gaps"
	if got.Describe() != about {
		t.Errorf("%q, want %q", got.Describe(), about)
	}
}

func TestPrometheusIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	url := serve(t, &recordedtest.Prometheus{Demand: counting, Stalls: 2})
	_, err := read(ctx, url, "load", 5*24*time.Hour)
	if err == nil || !strings.Contains(err.Error(), "interrupted after reading 2 days of 5 days of history") {
		t.Errorf("%v, want that it was interrupted, and where", err)
	}
}

// A counter and an average are no demand. That is said, and not refused: who asks may know better.
func TestDoubts(t *testing.T) {
	rises := recorded.History{Series: forecast.Series{Start: now, Step: time.Minute}}
	for i := range 2 * 1440 {
		rises.Values = append(rises.Values, float64(1000+7*i))
	}
	got, err := recorded.Judged(rises)
	if err != nil || !strings.HasPrefix(got.Doubt, "The values are from a counter") {
		t.Errorf("%q, %v", got.Doubt, err)
	}
	for name, c := range map[string]struct {
		at      func(i int) float64
		doubted bool
	}{
		"a ramp again and again":  {func(i int) float64 { return float64(50 + i%200) }, false},
		"a counter that restarts": {func(i int) float64 { return float64(7 * (i % 400)) }, true},
		"a pod leaves the sum":    {func(i int) float64 { return float64(1000 + 7*i - 900*(i/300)) }, true},
	} {
		h := rises
		h.Values = nil
		for i := range 2 * 1440 {
			h.Values = append(h.Values, c.at(i))
		}
		if got, err := recorded.Judged(h); err != nil || (got.Doubt != "") != c.doubted {
			t.Errorf("%s: %q, %v", name, got.Doubt, err)
		}
	}
	server := httptest.NewServer(&recordedtest.Prometheus{Demand: recordedtest.Hourly})
	defer server.Close()
	for query, doubted := range map[string]bool{"avg(load)": true, "sum(load)": false} {
		got, err := read(t.Context(), server.URL, query, time.Hour)
		if err != nil || (got.Doubt != "") != doubted {
			t.Errorf("%s: %q, %v", query, got.Doubt, err)
		}
	}
}

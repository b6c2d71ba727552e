package chart_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/chart"
)

func labels(all []chart.Tick) string {
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = t.Label
	}
	return strings.Join(out, " ")
}

func TestClock(t *testing.T) {
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		from time.Duration
		to   time.Duration
		want string
	}{
		{"half an hour", -30 * time.Minute, 0, "11:35 11:40 11:45 11:50 11:55 12:00"},
		{"a day has the date at midnight", -24 * time.Hour, 0, "15:00 18:00 21:00 21 Nov 03:00 06:00 09:00 12:00"},
		{"a fortnight is marked to its end", -14 * 24 * time.Hour, 0, "9 Nov 11 Nov 13 Nov 15 Nov 17 Nov 19 Nov 21 Nov"},
	} {
		if got := labels(chart.ClockTicks(noon, c.from.Seconds(), c.to.Seconds())); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{0, 10, "0 2 4 6 8 10"},
		{0, 0.7, "0 0.2 0.4 0.6"},
		{0, 31000, "0 10k 20k 30k"},
		{3, 3, ""},
		{0, math.Inf(1), ""},
	} {
		if got := labels(chart.RoundTicks(c.from, c.to)); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

func TestShares(t *testing.T) {
	got := chart.ShareTicks(0.0001, 1)
	want := []chart.Tick{{0.0001, "0.01%"}, {0.001, "0.1%"}, {0.01, "1%"}, {0.1, "10%"}, {1, "100%"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		from, to float64
		want     string
	}{
		{0.001, 0.025, "0.1% 0.2% 0.5% 1% 2%"},
		{0.003, 0.004, ""},
		{0.00001, 0.0001, "0.001% 0.002% 0.005% 0.01%"},
	} {
		if shares := labels(chart.ShareTicks(c.from, c.to)); shares != c.want {
			t.Errorf("%v to %v: %s, want %s", c.from, c.to, shares, c.want)
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
)

func minutes(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Unix(0, 0), Step: time.Minute, Values: values}
}

// flat answers with the same quantiles at each of two steps.
func flat(at func(level float64) float64) answer {
	a := answer{cpu: time.Second}
	for _, p := range levels() {
		a.quantiles = append(a.quantiles, []float64{at(p), at(p)})
	}
	a.point = a.quantiles[median]
	return a
}

// The first window's scale is 2 (of season 1, as the season is as long as the history), the second's history does not
// move: it takes no part in MASE and MSIS, but does in WQL.
func TestScore(t *testing.T) {
	s := set{kind: "windows", name: "two", season: 3, horizon: 2, windows: []window{
		{past: minutes(4, 6, 8), actual: []float64{10, math.NaN()}},
		{past: minutes(5, 5, 5, 5), actual: []float64{7, 3}},
	}}
	row := s.row("last", []answer{
		flat(func(p float64) float64 { return 8 + 0.4*math.Round(20*(p-0.5))/10 }), // 7.6 … 8.4
		flat(func(float64) float64 { return 5 }),
	}, nil)
	wql, size := 0.0, 10.0+7+3
	for tenth := 1; tenth <= 9; tenth++ {
		p := float64(tenth) / 10
		first := p * (10 - (8 + 0.4*(2*p-1))) // Below what came.
		wql += 2 * (first + p*2 + (1-p)*2) / size / 9
	}
	for _, c := range []struct {
		name string
		got  figure
		want float64
	}{
		{"MASE: missed by 2", row.MASE, 1},
		{"MSIS: from 7.6 to 8.4, missed by 1.6", row.MSIS95, (0.8 + 40*1.6) / 2},
		{"WQL", row.WQL, wql},
		{"CPU", row.CPU, 1},
	} {
		if math.Abs(float64(c.got)-c.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	broken := flat(func(float64) float64 { return math.Inf(1) })
	if row := s.row("last", []answer{broken, broken}, nil); row.LeftOut == "" || !math.IsNaN(float64(row.MASE)) {
		t.Errorf("an infinite forecast is scored: %+v", row)
	}
}

// A tenth of 1000 minutes is 100: three windows of 48, of 480 one. By five minutes there are 200 steps, of
// which a tenth is less than a window.
func TestWindowSets(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i)
	}
	nan := math.NaN()
	copy(values[3:], []float64{nan, 4, nan, nan, nan, nan, nan})
	sets, leftOut := windowSets([]demandtest.Recorded{{File: "a", Name: "a/x", Series: minutes(values...)}})
	var got []string
	for _, s := range sets {
		for _, w := range s.windows {
			first, last := w.actual[0], w.actual[s.horizon-1]
			got = append(got, fmt.Sprintf("%s season %d: %s, %v … %v", s.name, s.season, w.id, first, last))
		}
	}
	want := []string{
		"a 1m h=48 season 1440: a/x at 856, 856 … 903",
		"a 1m h=48 season 1440: a/x at 904, 904 … 951",
		"a 1m h=48 season 1440: a/x at 952, 952 … 999",
		"a 1m h=480 season 1440: a/x at 520, 520 … 999",
		"a 5m h=48 season 288: a/x at 152, 762 … 997",
		"a 10m h=48 season 144: a/x at 52, 524.5 … 994.5",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a 5m h=480", "a 10m h=480", "a 1h h=48", "a 1h h=480"}, leftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if first := sets[2].windows[0].past.Values; first[0] != 1.75 || !math.IsNaN(first[1]) {
		t.Errorf("the means begin with %v", first[:2])
	}
	long := minutes(make([]float64, 20_000)...)
	two := []demandtest.Recorded{{Series: long}, {Series: long}}
	if s := windowSet(two, time.Minute, 48); len(s.windows) != 2*mostWindows {
		t.Errorf("%d windows of two long series, want twice %d", len(s.windows), mostWindows)
	}
	if kept := (set{windows: make([]window, 9)}).thinned(4); len(kept.windows) != 4 {
		t.Errorf("%d windows of 9, want 4", len(kept.windows))
	}
	for step, season := range map[time.Duration]int{10 * time.Second: 360, 7 * time.Minute: 1, time.Hour: 24} {
		if got := seasonOf(step); got != season {
			t.Errorf("the season of steps of %s is %d, want %d", step, got, season)
		}
	}
}

// Each kind of candidates without a season is left out once, but for the last value.
func TestAblation(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("t,requests\n")
	for i := range 100 {
		fmt.Fprintf(&text, "%d,%d\n", 60*i, i+i%7)
	}
	write(t, dir, "rise.csv", text.String())
	rows := objects(t, "--m4-train=", "--m4-test=", "--traces", dir, "--sets=1m", "--ablate")
	rows = slices.DeleteFunc(rows, func(row map[string]any) bool { return row["set"] != "ablation" })
	var kinds []any
	for _, row := range rows {
		kinds = append(kinds, row["without"])
		for _, key := range []string{"mase_change", "mase_point_change", "wql_change", "cpu_seconds_change"} {
			if _, found := row[key].(float64); !found {
				t.Errorf("%v: %s = %v, want a number", row["without"], key, row[key])
			}
		}
	}
	want := []any{
		"Direct", "Direct of log", "Holt", "Median", "Ridge AR", "SES", "Segment", "theta",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// What people read: a heading before a set's first row, and why a method has no figures.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	table := tables{out: &out}
	row := scoreRow{Name: "M4 hourly", Series: 2, Horizon: 48, Season: 24, MASE: 1.5}
	err := errors.Join(table.score(row), table.score(scoreRow{
		Name: "M4 hourly", Series: 2, Horizon: 48, Season: 24, Model: "R: ets", LeftOut: "too slow",
	}))
	if got := out.String(); err != nil || strings.Count(got, "M4 hourly: 2 windows of 48 steps, season 24") != 1 ||
		!strings.Contains(got, " 1.500 ") || !strings.Contains(got, "left out: too slow\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestReadPeer(t *testing.T) {
	s := set{windows: []window{{id: "A", actual: []float64{1}}, {id: "B", actual: []float64{1}}}}
	row := "0.5\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\n"
	answers, err := s.readPeer(strings.NewReader(row+row), io.Discard, "ets")
	if err != nil || len(answers) != 2 || answers[1].cpu != time.Second/2 || answers[1].quantiles[median][0] != 6 {
		t.Errorf("the answers are %+v, %v", answers, err)
	}
	for printed, want := range map[string]string{
		row + "reached CPU time limit": "B: reached CPU time limit",
		row:                            "B: no answer",
		"0.5\t1":                       "A: 2 numbers of R, want 12",
		"x" + row:                      `value 1 is "x0.5"`,
	} {
		_, err := s.readPeer(strings.NewReader(printed), io.Discard, "ets")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", printed, err, want)
		}
	}
}

// The theta method forecasts a line on at half its slope. What fails in R is left out with R's reason.
func TestPeers(t *testing.T) {
	if err := exec.Command("Rscript", "-e", "library(forecast)").Run(); err != nil {
		t.Skip("no R package forecast (Debian: r-cran-forecast): ", err)
	}
	var line []float64
	for i := range 40 {
		line = append(line, float64(i))
	}
	s := set{season: 1, seasons: []int{1440}, windows: []window{{past: minutes(line...), actual: []float64{40, 41}}}}
	o := options{history: 30, limit: time.Minute}
	theta, err := s.askPeer("thetaf", o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if got := theta[0].quantiles[median]; math.Abs(got[0]-39.5) > 0.1 || math.Abs(got[1]-40) > 0.1 {
		t.Errorf("theta's points are %v, want 39.5 and 40", got)
	}
	if _, err := s.askPeer("stlf", o, io.Discard); err == nil || !strings.Contains(err.Error(), "seasonal") {
		t.Errorf("stlf without a season: %v, want R's message", err)
	}
}

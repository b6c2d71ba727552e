package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What is served is what is recorded: of each workload in the first two days, and in the short scenarios; with -short in the
// first hours of a few. The whole is `make test-served`.
func TestServedAsRecorded(t *testing.T) {
	t.Parallel()
	if fusesMultiplyAdd() {
		t.Skip("the records are of amd64: this processor rounds in another way")
	}
	for _, p := range chosenPlays(t) {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			r, err := readRecord("testdata", p.kind)
			if err != nil {
				t.Fatal(err)
			}
			length := lengthOf(p.kind)
			got, err := p.run(t.Context(), length)
			if err != nil {
				t.Fatal(err)
			}
			if verdict := r[p.String()].difference(got.entry, length == 0); verdict != "" {
				t.Errorf("%s. Where that is meant: make test-served UPDATE=1. To see the values: "+
					"hack/served/diff.sh REV '%s'", verdict, p)
			}
		})
	}
}

// lengthOf the part that is played; 0 is all.
func lengthOf(k kind) time.Duration {
	switch {
	case testing.Short():
		return 3 * time.Hour
	case k == workloads:
		return 48 * time.Hour
	}
	return 0
}

// longest is how many steps a scenario has at most that is played whole here: a day and a half.
const longest = 36 * 120

// chosenPlays are all, or one history of each kind with -short.
func chosenPlays(t *testing.T) []play {
	t.Helper()
	made := slices.DeleteFunc(madeScenarios(), func(h history) bool { return h.demand.Len() > longest })
	if testing.Short() {
		made = made[:1]
	}
	data := os.Getenv("FOREWARM_DATA")
	if data == "" {
		t.Run("workloads", func(t *testing.T) {
			t.Parallel()
			t.Skip("FOREWARM_DATA is unset: it names the folder with outcome/series_15s and outcome/workloads")
		})
		return playsOf(made)
	}
	recorded, err := recordedWorkloads(data)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		recorded = recorded[:1]
	}
	return playsOf(append(recorded, made...))
}

// quick is a play that takes little.
const quick = "a launch after an hour at 0/quantile"

func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, io.Discard)
	return out.String(), err
}

// A record that is written is found again; where one hash of it is another, its hour is named.
func TestCheckNamesTheHour(t *testing.T) {
	t.Setenv("FOREWARM_DATA", "")
	dir := t.TempDir()
	if text, err := output(t, "check", "--records", dir, quick); err == nil || text != quick+": no record\n" {
		t.Errorf("without a record: %q, %v", text, err)
	}
	if _, err := output(t, "check", "--records", dir, "--update", quick); err != nil {
		t.Fatal(err)
	}
	if text, err := output(t, "check", "--records", dir, quick); err != nil || text != "1 of 1 are as recorded\n" {
		t.Errorf("%q, %v: what was just recorded is not the same again", text, err)
	}
	path := recordPath(dir, scenarios)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := parseRecord(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r[quick].hours); n != 5 {
		t.Fatalf("%d hours, want 5", n)
	}
	changed := strings.Replace(string(text), r[quick].hours[4].sum, "00000000", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	want := quick + ": 1 of 5 hours differ, the first is 2026-11-02 04:00 UTC\n"
	if got, err := output(t, "check", "--records", dir, quick); err == nil || got != want {
		t.Errorf("%q, %v, want %q and an error", got, err, want)
	}
}

// A part that is written again leaves the rest of the record alone.
func TestUpdateOfAPart(t *testing.T) {
	t.Setenv("FOREWARM_DATA", "")
	dir := t.TempDir()
	plays := playsOf(madeScenarios()[:1])
	other := plays[1].String()
	before := record{other: {name: other, demand: "7", hours: []hour{{madeScenarios()[0].demand.Start, "8"}}}}
	if err := os.WriteFile(recordPath(dir, scenarios), []byte(before.text(plays)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := output(t, "check", "--records", dir, "--update", quick); err != nil {
		t.Fatal(err)
	}
	after, err := readRecord(dir, scenarios)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before[other], after[other], cmp.AllowUnexported(entry{}, hour{})); diff != "" {
		t.Error(diff)
	}
	if len(after) != 2 || len(after[quick].hours) != 5 {
		t.Errorf("%d entries, want 2, and 5 hours of what was played: %v", len(after), after[quick])
	}
	if _, err := os.Stat(recordPath(dir, workloads)); err == nil {
		t.Error("a record of what was not played is written")
	}
}

// Of entries that differ the first hour is named, and what else is the matter.
func TestDifference(t *testing.T) {
	at := time.Date(2026, 11, 2, 23, 9, 30, 0, time.UTC)
	entryOf := func(n int, change func(values []float64)) entry {
		values := make([]float64, n)
		for i := range values {
			values[i] = 1000 + float64(i%7)
		}
		change(values)
		var h hours
		for i, v := range values {
			h.add(at.Add(time.Duration(i)*loopStep), v)
		}
		return entry{name: "a/b", demand: "1", hours: h.close()}
	}
	const n = 3 * 120
	same := func([]float64) {}
	recorded := entryOf(n, same)
	for _, c := range []struct {
		name  string
		got   entry
		whole bool
		want  string
	}{
		{"the same", entryOf(n, same), true, ""},
		{"the tenth digit", entryOf(n, func(v []float64) { v[200] += 1e-6 }), true, ""},
		{
			"the ninth digit", entryOf(n, func(v []float64) { v[200] += 1e-5 }), true,
			"1 of 4 hours differ, the first is 2026-11-03 00:00 UTC",
		},
		{
			"two hours", entryOf(n, func(v []float64) { v[110], v[300] = 0, 0 }), true,
			"2 of 4 hours differ, the first is 2026-11-03 00:00 UTC",
		},
		{
			"nothing is served once", entryOf(n, func(v []float64) { v[0] = math.NaN() }), true,
			"1 of 4 hours differ, the first is 2026-11-02 23:00 UTC",
		},
		{"it ends early", entryOf(n-120, same), true, "3 hours, 4 are recorded"},
		{"a part", entry{name: "a/b", demand: "1", hours: recorded.hours[:2]}, false, ""},
		{"it ends late", entryOf(n+120, same), false, "5 hours, 4 are recorded"},
		{"another demand", entry{name: "a/b", demand: "2", hours: recorded.hours}, true, "the demand itself is another"},
	} {
		if got := recorded.difference(c.got, c.whole); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (entry{}).difference(recorded, true); got != "no record" {
		t.Errorf("%q without a record", got)
	}
}

func TestNineDigits(t *testing.T) {
	for v, want := range map[float64]string{
		1234567890123:        "1.23456789e+12",
		0.1 + 0.2:            "0.3",
		1.0 / 3:              "0.333333333",
		math.Copysign(0, -1): "0",
		math.Inf(1):          "+Inf",
		1500.000001:          "1500",
		1500.00001:           "1500.00001",
	} {
		if got := nineDigits(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := nineDigits(-math.NaN()); got != "NaN" {
		t.Errorf("%s, want NaN", got)
	}
}

// A record is read as it was written; days begin lines.
func TestRecordIsReadAsWritten(t *testing.T) {
	p := playsOf(madeScenarios()[:1])[0]
	e := entry{name: p.String(), demand: "0000000a"}
	begin := time.Date(2026, 11, 2, 22, 0, 0, 0, time.UTC)
	for i := range 27 {
		e.hours = append(e.hours, hour{begin.Add(time.Duration(i) * time.Hour), fmt.Sprintf("%08x", i)})
	}
	text := record{p.String(): e}.text([]play{p})
	if lines := strings.Count(text, "\n20"); lines != 3 ||
		!strings.Contains(text, "\n2026-11-02T22 00000000 00000001\n") {
		t.Errorf("%d lines of days, want 3, the first with two hours: %s", lines, text)
	}
	got, err := parseRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(record{p.String(): e}, got, cmp.AllowUnexported(entry{}, hour{})); diff != "" {
		t.Error(diff)
	}
	for text, want := range map[string]string{
		"2026-11-02T22 00000000":              "after a [NAME]",
		"[a/b]":                               "want [NAME] demand HASH",
		"[a/b] demand 00000000\n2026-11-02 0": "line 2",
	} {
		if _, err := parseRecord(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A step is a line that other revisions print, too.
func TestStepsArePrinted(t *testing.T) {
	text, err := output(t, "print", "--data=", quick)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 5*120 || !strings.HasPrefix(lines[0], "2026-11-02T00:00:00Z NaN ") ||
		!regexp.MustCompile(`^2026-11-02T04:59:30Z 14\d\d\.\d+ \d{4}\.\d+$`).MatchString(lines[599]) {
		t.Errorf("%d lines, want one for each step of five hours: %q, …, %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

func TestCommandLine(t *testing.T) {
	t.Setenv("FOREWARM_DATA", "")
	for want, args := range map[string][]string{
		"want check":             {},
		"\"play\": want check":   {"play"},
		"jobs 0":                 {"check", "--jobs", "0"},
		"leave out --days":       {"check", "--update", "--days", "2"},
		"\"llama\" is none of":   {"check", "llama"},
		"36 plays are asked for": {"print"},
		"names the folder with":  {"check", "--data", t.TempDir()},
	} {
		if _, err := output(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, []string{"check", "--records", t.TempDir(), "--update", quick}, io.Discard,
		io.Discard); err == nil {
		t.Error("a check that was interrupted is no error")
	}
}

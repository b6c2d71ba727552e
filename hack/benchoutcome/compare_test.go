package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// curved are lines of forewarm on a trace at L = 5m.
func curved(trace, family string, late, cost [3]float64) record {
	var out record
	for i, setting := range reportedObjectives() {
		out = append(out, line{
			Lead: "5m0s", Step: 15, Trace: trace, Family: family, Policy: "forewarm", Setting: setting,
			Late: late[i], Cost: cost[i],
		})
	}
	return out
}

// Costs are compared at the same lateness, whatever was asked for.
func TestCompare(t *testing.T) {
	var before, now record
	even := [3]float64{0.005, 0.01, 0.02}
	before = append(before, curved("llm", "llm", even, [3]float64{2, 1.8, 1.5})...)
	before = append(before, curved("web_a", "web", even, [3]float64{2, 1.5, 1})...)
	before = append(before, curved("web_b", "web", even, [3]float64{2, 1.5, 1})...)
	before = append(before, curved("gone", "web", even, [3]float64{9, 9, 9})...)
	// Half as late for the same cost: at 1 % late it is that of 2 % before.
	now = append(now, curved("llm", "llm", [3]float64{0.0025, 0.005, 0.01}, [3]float64{2, 1.8, 1.5})...)
	now = append(now, curved("web_a", "web", even, [3]float64{2, 1.56, 1})...)
	now = append(now, curved("web_b", "web", [3]float64{0.007, 0.01, 0.02}, [3]float64{1.7, 1.5, 1})...)
	short := line{Lead: "5m0s", Step: 15, Trace: "short", Policy: "forewarm", Late: 0.1, Cost: 9}
	now = append(now, short)
	var text strings.Builder
	now.compare(before, &text)
	for _, want := range []string{
		"| | L = 5m0s: 0.5 % | L = 5m0s: 1 % |",
		"| llm | 0.900 | 0.833 |",
		"| web_a | 1.000 | **1.040** |",
		"| web_b | – | 1.000 |",
		"| geometric mean, equal weights of families | 0.949 | 0.922 |", // √.9 at .5 %; √(.833 · √1.04) at 1 %.
		"at most 1 % in the mean and 3 % on any trace: **missed**.",
		"- web_b, L = 5m0s, 0.5 %: late 0.50 to 2.00 % before, 0.70 to 2.00 % now; at 0.70 % 0.944\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("nothing of %s in\n%s", want, text.String())
		}
	}
	for _, other := range []string{"gone", "short"} {
		if strings.Contains(text.String(), other) {
			t.Errorf("%s, which is in one run or does not count, in\n%s", other, text.String())
		}
	}
	text.Reset()
	now.of(setup{lead: "5m0s", step: 15}, "forewarm").compare(record{short}, &text)
	if !strings.Contains(text.String(), "no lines of forewarm") {
		t.Error(text.String())
	}
}

// What a run prints can be read again: its baseline is the same, and beside itself nothing rises.
func TestLines(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, first, "llm_a", 150, cycle)
	write(t, second, "web_a", 150, func(hour float64) float64 { return cycle(hour + 7) })
	var out bytes.Buffer
	args := []string{"--short", "--lead=2m", "--json", "--traces", first + "," + second}
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"**One setting for the traces of a folder**", "| policy | " + filepath.Base(first) + ": .5 %", "| forewarm |",
		"**The first 24 h of each trace**", "| L = 2m0s | stock300 |", "| L = 2m0s, first 24 h | reactive-tuned |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing of %s in\n%s", want, out.String())
		}
	}
	file := filepath.Join(t.TempDir(), "run.txt")
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := run([]string{"--lines", file, "--compare", file}, &again, io.Discard); err != nil {
		t.Fatal(err)
	}
	baseline, compared, _ := strings.Cut(again.String(), "\n**Forewarm's cost over")
	if !strings.HasSuffix(out.String(), baseline) || !strings.Contains(baseline, "| forewarm |") {
		t.Errorf("the baseline is read as\n%s", baseline)
	}
	if !strings.Contains(compared, "| llm_a |") || !strings.Contains(compared, "on any trace: met.") {
		t.Errorf("beside itself\n%s", compared)
	}
	if err := run([]string{"--compare", filepath.Join(first, "llm_a.csv")}, io.Discard, io.Discard); err == nil {
		t.Error("a file without lines is no error")
	}
}

// What is asked for goes before what is short.
func TestShort(t *testing.T) {
	o, err := parse([]string{"--short", "--lead=2m 5m,p90=8m"}, "data")
	if err != nil || len(o.leads) != 2 || len(o.policies) != 3 || o.cpu || o.scheduled || !o.firstDay {
		t.Errorf("%+v, %v", o, err)
	}
}

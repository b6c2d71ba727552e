package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// write puts a trace of ten-minute values into a folder.
func write(t *testing.T, dir, name string, n int, value func(hour float64) float64) {
	t.Helper()
	var text strings.Builder
	text.WriteString("t,value\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%g\n", 600*i, value(float64(i)/6))
	}
	if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func cycle(hour float64) float64 { return 5 + 3*math.Sin(hour*math.Pi/12) }

func sawtooth(hour float64) float64 { return 1 + math.Mod(hour, 2) }

// folder has two families and a trace of an hour.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "web_a", 150, cycle)
	write(t, dir, "llm_a", 150, sawtooth)
	write(t, dir, "short", 7, cycle)
	return dir
}

// output runs the command.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), append([]string{"--scheduled=false", "--lead=5m,p90=8m"}, args...), &out,
		io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// tables are the output without the lines of JSON.
func tables(text string) string {
	i := strings.Index(text, "\n## ")
	return text[max(i, 0):]
}

// Every setting is a line, tables are made of the lines alone, and the same traces give the same lines, however many are played at once.
func TestOutcome(t *testing.T) {
	dir := folder(t)
	text := output(t, "--traces", dir, "--short", "--json", "--jobs=1")
	if again := output(t, "--traces", dir, "--short", "--json", "--jobs=3"); again != text {
		t.Errorf("a second run differs:\n%s", cmp.Diff(text, again))
	}
	count := map[string]int{}
	for row := range strings.Lines(text) {
		if !strings.HasPrefix(row, "{") {
			break
		}
		var l line
		decoder := json.NewDecoder(strings.NewReader(row))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, row)
		}
		kind := l.Trace + " " + l.Policy
		switch {
		case l.Headroom != nil:
			kind += " constant"
		case l.FirstDay:
			kind += " first day"
		}
		count[kind]++
		if !(l.Cost >= 1) && l.Late == 0 || l.Late < 0 || l.Late > 1 || l.Churn < 0 || l.Lead != "5m0s,p90=8m0s" {
			t.Errorf("the line is %+v", l)
		}
	}
	want := map[string]int{}
	for _, trace := range []string{"llm_a", "web_a"} {
		want[trace+" forewarm"], want[trace+" forewarm first day"], want[trace+" forewarm constant"] = 10, 10, 3*18
		want[trace+" hpa-best-target"], want[trace+" hpa-best-target first day"] = 37, 37
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
	for _, part := range []string{
		"## L = 5m0s,p90=8m0s: llm_a, web_a\n", "| forewarm | ", "| hpa-best-target | ", "| llm_a | ", "| regret: median / p90 / worst | ",
	} {
		if !strings.Contains(tables(text), part) {
			t.Errorf("nothing of %q in\n%s", part, tables(text))
		}
	}
	file := filepath.Join(t.TempDir(), "run.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if read := output(t, "--lines", file); read != tables(text) {
		t.Errorf("read from a file, the tables differ:\n%s", cmp.Diff(tables(text), read))
	}
	both := output(t, "--lines", file, "--compare", file)
	if !strings.Contains(both, "| L = 5m0s,p90=8m0s | before |") {
		t.Errorf("no earlier run in\n%s", both)
	}
}

// What is learnt for a trace does not depend on its family.
func TestAFamilyIsLeftOut(t *testing.T) {
	learnt := func(web func(float64) float64) *learner {
		dir := t.TempDir()
		write(t, dir, "web_a", 150, web)
		write(t, dir, "llm_a", 150, sawtooth)
		traces, err := readTraces(dir)
		if err != nil {
			t.Fatal(err)
		}
		p := player{options{jobs: 2}, traces, io.Discard}
		l, err := p.learn(t.Context(), compare.LeadTime{Median: 5 * time.Minute}, "web", "llm", everyFamily)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	one, other := learnt(cycle), learnt(func(hour float64) float64 { return math.Mod(hour, 3) })
	for family, same := range map[string]bool{"web": true, "llm": false, everyFamily: false} {
		a, err := one.knownTo(family)
		if err != nil {
			t.Fatal(err)
		}
		b, err := other.knownTo(family)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); (diff == "") != same {
			t.Errorf("without %s: the same %v, want %v: %s", family, diff == "", same, diff)
		}
	}
	dir := t.TempDir()
	for _, of := range []string{"windowpeak/priors", "decide/objective/priors"} {
		if err := os.MkdirAll(filepath.Join(dir, of), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.write(dir); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", "lead-5m0s.json")); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// lines of a trace: 1 % asked is late and costs so much; the HPA costs 2 at .5 % and 1.5 at 2 %, headrooms 1.6 at .2 % and 1.2 at 1 %.
func lines(trace string, late, cost float64) record {
	out := record{
		{Trace: trace, Policy: compare.BestTarget, Cost: 2, Late: 0.005},
		{Trace: trace, Policy: compare.BestTarget, Cost: 1.5, Late: 0.02},
		{Trace: trace, Policy: compare.Forewarm, Setting: 0.01, FirstDay: true, Cost: 3, Late: 0.5},
		{Trace: trace, Policy: compare.Forewarm, Setting: 0.01, Cost: cost, Late: late},
	}
	for k, p := range map[float64]point{4: {0.002, 1.6}, 1: {0.01, 1.2}, 0: {0.3, 1}} {
		out = append(out,
			line{Trace: trace, Policy: compare.Forewarm, Setting: 0.01, Headroom: &k, Cost: p.cost, Late: p.late})
	}
	for i := range out {
		out[i].Family = trace
	}
	return out
}

// The range is that of the three costs of two traces each.
func TestLeavingOutEachTrace(t *testing.T) {
	all := slices.Concat(lines("calm", 0.002, 2), lines("right", 0.004, 1.5), lines("wild", 0.008, 1.2))
	low, high := all.leaveOneOut(compare.Forewarm, 0.01)
	if math.Abs(low-math.Sqrt(1.5*1.2)) > 1e-9 || math.Abs(high-math.Sqrt(2*1.5)) > 1e-9 {
		t.Errorf("%v to %v", low, high)
	}
	if low, high = all.leaveOneOut(compare.Forewarm, 0.001); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("%v to %v where no setting is that early", low, high)
	}
}

func TestFigures(t *testing.T) {
	got := slices.Concat(lines("calm", 0.002, 1.8), lines("right", 0.01, 1.2), lines("wild", 0.02, 1.2)).figures()
	want := figures{
		runs: 3, regret: spread{1, 1.5, 1.5}, under: 1, over: 1, worst: 2, cheaper: 3, rivals: 3,
		worstCost: 1.8 / (2 - 0.5/3), medianOverHPA: 0.8,
		asked1:   point{(0.002 + 0.01 + 0.02) / 3, math.Cbrt(1.8 * 1.2 * 1.2)},
		firstDay: point{0.5, 3}, mean1: point{0.01, math.NaN()},
	}
	approximately := cmp.Comparer(func(a, b float64) bool {
		return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b)
	})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(figures{}, spread{}, point{}), approximately); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCostAt(t *testing.T) {
	points := []point{{0.04, 1.2}, {0.01, 2}, {0.02, 2.4}, {0.03, 1.6}}
	for late, want := range map[float64]float64{
		0.001: math.NaN(),
		0.01:  2,
		0.02:  2,   // The more expensive setting is passed over.
		0.025: 1.8, // Half way between the cheapest up to 2 % and 1.6.
		0.035: 1.4,
		0.5:   1.2,
	} {
		if got := costAt(points, late); math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("at %v: %v, want %v", late, got, want)
		}
	}
	if got := costAt(nil, 1); !math.IsNaN(got) {
		t.Errorf("of nothing %v", got)
	}
}

func TestFamilyOf(t *testing.T) {
	for name, want := range map[string]string{
		"sg_small_min": "sg", "servegen_m-small_rate_10min": "sg", "wc98_b": "wc", "elb": "nab", "tw_amzn": "nab",
		"nab_nyc_taxi": "nab", "az_conv": "az", "azure2023_conv_10s": "az", "gpu_duty": "gentd", "gen_qps": "gentd",
		"lora": "lora", "worldcup98_requests": "wc", "mine_a": "mine", "generic": "generic", "pool06": "pool",
		"pool28": "pool", "ms_mongo01": "ms", "ms_ingress04": "ms", "sg_mid_client7": "sg", "2024_load": "2024",
	} {
		if got := familyOf(name); got != want {
			t.Errorf("%s is of %s, want %s", name, got, want)
		}
	}
	if got := familyWeights([]string{"a", "b", "b"}); !slices.Equal(got, []float64{0.5, 0.25, 0.25}) {
		t.Errorf("weights %v", got)
	}
}

func TestOptionsSayEverything(t *testing.T) {
	_, err := parse([]string{"--lead=-1s 5m,p90=4m", "--jobs=0", "--traces=x"}, "")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"lead time of -1s", "lead time of 5m,p90=4m", "jobs 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in %v", want, err)
		}
	}
	if _, err = parse(nil, ""); err == nil {
		t.Error("without traces there is no error")
	}
	want := []string{filepath.Join("data", "outcome", "series_15s"), filepath.Join("data", "outcome", "workloads")}
	o, err := parse(nil, "data")
	if err != nil || !slices.Equal(o.traces, want) || len(o.leads) != 4 || o.leads[0].P90 == 0 {
		t.Errorf("traces in %q, leads %v, %v", o.traces, o.leads, err)
	}
	if err := run(t.Context(), []string{"--traces", t.TempDir()}, io.Discard, io.Discard); err == nil {
		t.Error("an empty folder is no error")
	}
}

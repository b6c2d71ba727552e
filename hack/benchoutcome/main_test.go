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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
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

// folder has two families, one of two traces, and a trace of an hour.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "web_a", 150, cycle)
	write(t, dir, "web_b", 150, func(hour float64) float64 { return cycle(hour + 7) })
	write(t, dir, "llm_a", 150, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	write(t, dir, "short", 7, cycle)
	return dir
}

// output runs the command at one lead time, and splits what it prints into the JSON lines and the rest.
func output(t *testing.T, args ...string) (lines []line, text string) {
	t.Helper()
	var out bytes.Buffer
	args = append([]string{"--json", "--scheduled=false", "--cpu=false", "--first-day=false", "--lead=5m"}, args...)
	if err := run(args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var rest strings.Builder
	for row := range strings.Lines(out.String()) {
		if !strings.HasPrefix(row, "{") {
			rest.WriteString(row)
			continue
		}
		var l line
		decoder := json.NewDecoder(strings.NewReader(row))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, row)
		}
		lines = append(lines, l)
	}
	return lines, rest.String()
}

func TestOutcome(t *testing.T) {
	dir := folder(t)
	args := []string{"--traces", dir, "--lead=2m", "--policy=stock300,oracle"}
	lines, text := output(t, args...)
	count := map[string]int{}
	late := map[string]float64{}
	for _, l := range lines {
		count[l.Trace+" "+l.Policy]++
		if !(l.Cost >= 1) && l.Late == 0 || l.Late < 0 || l.Late > 1 || l.ChurnPerHour < 0 {
			t.Errorf("the line is %+v", l)
		}
		if l.Setting == 1 {
			late[l.Trace+" "+l.Policy] = l.Late
		}
	}
	want := map[string]int{}
	for _, trace := range []string{"llm_a", "short", "web_a", "web_b"} {
		want[trace+" stock300"], want[trace+" oracle"] = 33, 16
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("lines (-want +got)\n%s", diff)
	}
	if reactive, oracle := late["web_a stock300"], late["web_a oracle"]; !(reactive > oracle) {
		t.Errorf("at a target of 1, the demand of now is late %v, that to come %v", reactive, oracle)
	}
	for _, part := range []string{
		"L = 2m0s, refresh every 15s: llm_a, web_a, web_b; families llm, web weigh equally", "| stock300 | ", "| oracle | ",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("nothing of %q in\n%s", part, text)
		}
	}
}

// The same traces give the same lines and tables, however many policies are played at once.
func TestOutcomeRepeats(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "llm_a", 150, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	args := []string{"--traces", dir, "--policy=max15m,offset"}
	lines, text := output(t, append(args, "--jobs=1")...)
	again, sameText := output(t, append(args, "--jobs=3")...)
	if diff := cmp.Diff(lines, again); diff != "" || text != sameText {
		t.Errorf("a second run differs\n%s", diff)
	}
}

// A slower refresh is another run, with the same lines.
func TestStep(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "llm_a", 30, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	all := []string{"--traces", dir, "--policy=stock1800,offset,day-profile,holt-winters,arima,reactive-tuned"}
	fast, _ := output(t, all...)
	slow, _ := output(t, append(all, "--step=60s")...)
	if len(fast) != len(slow) || len(fast) != 5*33+10 {
		t.Fatalf("%d and %d lines", len(fast), len(slow))
	}
	differ := 0
	for i, l := range fast {
		if l.Policy != slow[i].Policy || l.Setting != slow[i].Setting {
			t.Fatalf("line %d is %+v and %+v", i, l, slow[i])
		}
		if l.Step, slow[i].Step = 0, 0; l != slow[i] {
			differ++
		}
		if learnt := l.Policy == "reactive-tuned"; learnt != (l.Without == "llm") {
			t.Errorf("the line is %+v: a family is left out where something is learnt", l)
		}
	}
	if differ == 0 {
		t.Error("a refresh every minute changes nothing")
	}
}

// What the offset policy costs on the made loads is what it does in the study; weekdays are not in it.
func TestScheduled(t *testing.T) {
	loads, err := scheduledLoads()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"scheduled_9_to_17": 1.28, "scheduled_weekdays": 1.385, "scheduled_hourly_batch": 1.49}
	offset, err := policyNamed("offset")
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range newTrials(loads, options{lead: lead{median: 5 * time.Minute}, step: sync}) {
		plays, err := offset.plays(trial)
		if err != nil {
			t.Fatal(err)
		}
		// The targets around the one that is wanted: all of them take long under the race detector.
		played := result{trial: trial, policy: offset}
		for _, p := range plays[24:] {
			l, err := trial.playSetting(offset, p, trial.demand, trial.warmUp())
			if err != nil {
				t.Fatal(err)
			}
			played.lines = append(played.lines, l)
			if l.Late > 0.005 {
				break
			}
		}
		if got := played.costAt(0.005); !(math.Abs(got-want[trial.name]) <= 0.005) {
			t.Errorf("%s: %v, want %v", trial.name, got, want[trial.name])
		}
	}
}

// Made loads have tables of their own.
func TestSummaryOfScheduled(t *testing.T) {
	policy := benchPolicy{name: "offset"}
	made := &trial{recorded: recorded{name: "scheduled_a", family: scheduledFamily, demand: forecast.Series{
		Step: sync, Values: make([]float64, 2*24*240),
	}}}
	var text strings.Builder
	err := summary{
		results: []result{
			{made, policy, []line{{Setting: 1, Cost: 1.25, Late: 0.004}}, nil, nil},
		},
		policies: []benchPolicy{policy},
	}.print(&text)
	if err != nil || !strings.Contains(text.String(), "| policy | scheduled_a | over hindsight |") ||
		!strings.Contains(text.String(), "| offset | 1.25 | – |") || strings.Contains(text.String(), "weigh equally") {
		t.Error(err, text.String())
	}
}

// Every target, stabilization and minReplicas is played, and named in its line.
func TestHindsight(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "llm_a", 20, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
	lines, text := output(t, "--traces", dir, "--policy=reactive-hindsight")
	settings := map[string]bool{}
	for _, l := range lines {
		settings[fmt.Sprint(l.Setting, *l.Stabilization, *l.MinReplicas)] = true
	}
	if want := 4*33 + 6*3*17; len(lines) != want || len(settings) != want {
		t.Errorf("%d lines, %d settings, want %d", len(lines), len(settings), want)
	}
	if !strings.Contains(text, "No trace is as long as a day") {
		t.Errorf("of a short trace alone there is a summary\n%s", text)
	}
}

// What a prior says of a trace does not depend on its family.
func TestPriorLeavesTheFamilyOut(t *testing.T) {
	prior := func(other func(float64) float64) []float64 {
		dir := t.TempDir()
		write(t, dir, "web_a", 150, cycle)
		write(t, dir, "web_b", 150, other)
		write(t, dir, "llm_a", 150, func(hour float64) float64 { return 1 + math.Mod(hour, 2) })
		traces, err := readTraces(dir)
		if err != nil {
			t.Fatal(err)
		}
		trials := newTrials(traces, options{lead: lead{median: 5 * time.Minute}, step: sync})
		scores, err := trials[1].reactivePrior()
		if err != nil || trials[1].name != "web_a" {
			t.Fatal(trials[1].name, err)
		}
		return scores.Late
	}
	if diff := cmp.Diff(prior(cycle), prior(func(hour float64) float64 { return math.Mod(hour, 3) })); diff != "" {
		t.Error(diff)
	}
}

func TestCostAt(t *testing.T) {
	points := []point{{0.04, 1.2}, {0.01, 2}, {0.02, 2.4}, {0.03, 1.6}}
	for late, want := range map[float64]float64{
		0.001: math.NaN(),
		0.01:  2,
		0.02:  2,   // The dearer setting is passed over.
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

// Two families count alike: the one trace of the one as much as both of the other.
func TestTogether(t *testing.T) {
	trials := []*trial{
		{recorded: recorded{family: "a"}}, {recorded: recorded{family: "b"}}, {recorded: recorded{family: "b"}},
	}
	got := totalsOf(0.5, []line{
		{
			Cost:         4,
			Late:         0.02,
			ChurnPerHour: 8,
		},
		{Cost: 1, Late: 0, ChurnPerHour: 4},
		{Cost: 1, Late: 0.01, ChurnPerHour: 0},
	}, trialWeights(trials))
	// The logarithms are −1.697 with weight ½, and −4 and −1.996 with ¼ each: a mean of −2.347 and a deviation of 0.962.
	want := settingTotals{setting: 0.5, mean: 0.0125, median: 0.01, worst: 0.02, spread: 0.962, cost: 2, churn: 5}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(settingTotals{}), cmpopts.EquateApprox(1e-4, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
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
}

func TestWarmUp(t *testing.T) {
	for hours, want := range map[int]time.Duration{14 * 24: 48 * time.Hour, 96: 48 * time.Hour, 90: 9 * time.Hour, 1: 6 * time.Minute} {
		r := recorded{demand: forecast.Series{Step: sync, Values: make([]float64, 240*hours)}}
		if got := r.warmUp(); got != want {
			t.Errorf("of %d hours %s, want %s", hours, got, want)
		}
	}
}

func TestOptionsSayEverything(t *testing.T) {
	_, err := parse(
		[]string{"--lead=-1s 5m,p90=4m", "--step=20s", "--policy=stock300,best", "--jobs=0", "--traces=x"},
		"",
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"lead time of -1s", "lead time of 5m,p90=4m", "step of 20s", `policy "best"`, "reactive-tuned", "jobs 0"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in %v", want, err)
		}
	}
	if _, err := parse(nil, ""); err == nil {
		t.Error("without traces there is no error")
	}
	want := []string{filepath.Join("data", "outcome", "series_15s"), filepath.Join("data", "outcome", "workloads")}
	if o, err := parse(nil, "data"); err != nil || !slices.Equal(o.traces, want) {
		t.Errorf("traces in %q, %v", o.traces, err)
	}
	if err := run([]string{"--traces", t.TempDir()}, io.Discard, io.Discard); err == nil {
		t.Error("an empty folder is no error")
	}
}

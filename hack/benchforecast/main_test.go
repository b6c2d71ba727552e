package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
)

// write writes a file in a folder of its own, compressed if its name says so.
func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	content, failed := bytes.NewBufferString(text), error(nil)
	if strings.HasSuffix(name, ".gz") {
		content.Reset()
		zip := gzip.NewWriter(content)
		fmt.Fprint(zip, text)
		failed = zip.Close()
	}
	if err := errors.Join(failed, os.WriteFile(path, content.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// equal compares values of the same type.
func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// objects runs the command with --json and reads its lines.
func objects(t *testing.T, args ...string) (rows []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	if err := run(append(args, "--json", "--peers="), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if err := json.Unmarshal([]byte("["+strings.Join(lines, ",")+"]"), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// m4 writes a training and a test file of two series. Days go from 10 to 33, then each is higher by 1 or by 2.
func m4(t *testing.T) (train, test string) {
	t.Helper()
	days := func(from, to, rise int) string {
		var row strings.Builder
		for i := 24 * from; i < 24*to; i++ {
			fmt.Fprintf(&row, ",%d", 10+i%24+rise*(i/24))
		}
		return row.String()
	}
	train = write(t, "train.csv.gz", `"V1","V2"`+"\n\"A\""+days(0, 10, 1)+",,\nB"+days(0, 10, 2)+",NA\n")
	return train, write(t, "test.csv", "V1,V2\nB"+days(10, 12, 2)+"\nA"+days(10, 12, 1)+"\n")
}

// The seasonal naive method is behind by a day's rise on the first day and by two on the second: a MASE of 1.5. All
// seasonal differences are the rise, and so are its standard errors (√2 of it on the second day). The 95 % interval
// reaches 1.96 of them: it holds all of the first day, and all of the second, because 2 < 1.96·√2.
func TestM4(t *testing.T) {
	train, test := m4(t)
	rows := objects(t, "--m4-train", train, "--m4-test", test, "--traces=", "--model=seasonal-naive")
	if len(rows) != 2 || rows[1]["model"] != "naive2" {
		t.Fatalf("%v, want the model and Naive2", rows)
	}
	row := rows[0]
	for _, key := range []string{"smape", "owa", "wql", "cpu_seconds_per_series"} {
		if got, found := row[key].(float64); !found || got <= 0 {
			t.Errorf("%s = %v, want more than 0", key, row[key])
		}
		delete(row, key)
	}
	equal(t, map[string]any{
		"set": "m4", "model": "seasonal-naive", "name": "M4 hourly", "series": 2.0, "horizon": 48.0, "season": 24.0,
		"mase": 1.5, "mase_point": 1.5, "msis95": 1.959963984540054 * (1 + math.Sqrt2),
		"coverage80": 0.5, "coverage95": 1.0,
	}, row)
}

// On a line the last value is behind by the horizon, so a model that forecasts it has a ratio of 1. A trace that does
// not move has no error to be relative to.
func TestTraces(t *testing.T) {
	text := bytes.NewBufferString("t,flat,requests\n")
	for i := range 200 {
		fmt.Fprintf(text, "%d,3,%d\n", 60*i, 7*i)
	}
	folder := filepath.Dir(write(t, "rise.csv.gz", text.String()))
	var got []string
	for _, row := range objects(t, "--m4-train=", "--m4-test=", "--traces", folder, "--sets=online", "--model=last") {
		got = append(got, fmt.Sprintf("%v %v h=%v: %v, %.3v, %v", row["set"], row["name"], row["horizon"],
			row["mae_ratio_last"], row["p95_ratio_max5"], row["p95_coverage"]))
	}
	// The standard error at h is √h rises: the quantile, 1.64·√h, is too high up to 2, and then too low by h − 1.64·√h.
	// The maximum of the last 5 is the last value, too low by h.
	equal(t, []string{
		"trace rise/flat h=1: <nil>, <nil>, 1", "trace rise/flat h=5: <nil>, <nil>, 1",
		"trace rise/flat h=10: <nil>, <nil>, 1", "trace rise/flat h=15: <nil>, <nil>, 1",
		"trace rise/requests h=1: 1, 0.0339, 1", "trace rise/requests h=5: 1, 0.264, 0",
		"trace rise/requests h=10: 1, 0.48, 0", "trace rise/requests h=15: 1, 0.575, 0",
	}, got)
}

// The figures that FORECASTING.md gives for R's seasonal naive and for Naive2 pin the definitions.
func TestFiguresOfTheEvenHalf(t *testing.T) {
	if os.Getenv("FOREWARM_DATA") == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with m4/hourly_even_train.csv.gz")
	}
	rows := objects(t, "--traces=", "--model=seasonal-naive,naive2")
	for i, want := range []string{
		"MASE 1.154, sMAPE 13.85, OWA 0.618, MSIS 8.82, coverage 0.85 and 0.96 of 207",
		"MASE 2.358, sMAPE 18.54, OWA 1.000",
	} {
		r := rows[i]
		got := fmt.Sprintf("MASE %.3f, sMAPE %.2f, OWA %.3f, MSIS %.2f, coverage %.2f and %.2f of %v", r["mase"],
			r["smape"], r["owa"], r["msis95"], r["coverage80"], r["coverage95"], r["series"])
		equal(t, want, got[:min(len(got), len(want))])
	}
}

func TestErrors(t *testing.T) {
	train, test := m4(t)
	t.Setenv("FOREWARM_DATA", "")
	empty := []string{"--m4-train=", "--m4-test=", "--traces="}
	none := func(args ...string) []string { return slices.Concat(empty, args) }
	for want, args := range map[string][]string{
		"FOREWARM_DATA is unset":     nil,
		"set it to the folder":       empty[:2], // No folder for the traces.
		"belong together":            none("--m4-test", test),
		"no set to score":            none("--m4-train", train, "--m4-test", test, "--sets=x"),
		`unknown peer "best"`:        none("--peers=best"),
		"--peer-history 0":           none("--peer-history=0"),
		`model "best": write one of`: none("--model=best"),
		`unexpected argument "x"`:    {"x"},
		"series A":                   none("--m4-train", train, "--m4-test", write(t, "odd.csv", "V1,V2\nC,1\n")),
		`row 2: value 1 is "many"`:   none("--m4-train", write(t, "word.csv", "V1,V2\nA,many\n"), "--m4-test", test),
		"no .csv":                    none("--traces", filepath.Dir(write(t, "README.md", "no trace"))),
		"none.csv":                   none("--m4-train=none.csv", "--m4-test", test),
	} {
		if err := run(args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

func minutes(values ...float64) forecast.Series {
	return forecast.Series{Start: time.Unix(0, 0), Step: time.Minute, Values: values}
}

// line has the values from 0 on, one more each step.
func line(n int) (values []float64) {
	for i := range n {
		values = append(values, float64(i))
	}
	return values
}

// flat answers with the same quantiles at each of two steps.
func flat(at func(level float64) float64) answer {
	a := answer{cpu: time.Second, point: []float64{at(0.5), at(0.5)}}
	for _, p := range levels() {
		a.quantiles = append(a.quantiles, []float64{at(p), at(p)})
	}
	return a
}

// The first window's scale is 2 (with a season of 1, because the season is as long as the history). The history of the
// second does not move: it counts in WQL, but not in MASE and MSIS.
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
	for _, p := range levels()[1:10] {
		first := p * (10 - (8 + 0.4*(2*p-1))) // Below the value.
		wql += 2 * (first + p*2 + (1-p)*2) / size / 9
	}
	// The median missed by 2. The interval from 7.6 to 8.4 missed by 1.6.
	want := []float64{1, (0.8 + 40*1.6) / 2, wql, 1}
	equal(t, want, []float64{float64(row.MASE), float64(row.MSIS95), float64(row.WQL), float64(row.CPU)})
	row = s.row("last", []answer{flat(func(float64) float64 { return math.Inf(1) }), {}}, nil)
	equal(t, []any{"the forecast is not finite", math.NaN()}, []any{row.LeftOut, float64(row.MASE)})
}

// A tenth of 1000 minutes is 100: three windows of 48 steps, one of 480. At steps of five minutes, a tenth of the 200
// steps is less than a window.
func TestWindowSets(t *testing.T) {
	values, nan := line(1000), math.NaN()
	copy(values[3:], []float64{nan, 4, nan, nan, nan, nan, nan})
	sets := windowSets([]demandtest.Recorded{{File: "a", Name: "a/x", Series: minutes(values...)}})
	var got []string
	for _, s := range sets {
		if len(s.windows) == 0 {
			got = append(got, s.name+": none")
		}
		for _, w := range s.windows {
			got = append(got, fmt.Sprintf("%s season %d: %s, %v … %v", s.name, s.season, w.id,
				w.actual[0], w.actual[s.horizon-1]))
		}
	}
	equal(t, []string{
		"a 1m h=48 season 1440: a/x at 856, 856 … 903", "a 1m h=48 season 1440: a/x at 904, 904 … 951",
		"a 1m h=48 season 1440: a/x at 952, 952 … 999", "a 1m h=480 season 1440: a/x at 520, 520 … 999",
		"a 5m h=48 season 288: a/x at 152, 762 … 997", "a 5m h=480: none",
		"a 10m h=48 season 144: a/x at 52, 524.5 … 994.5", "a 10m h=480: none",
		"a 1h h=48: none", "a 1h h=480: none",
	}, got)
	equal(t, []float64{1.75, nan}, sets[2].windows[0].past.Values[:2])
	equal(t, 4, len(set{windows: make([]window, 9)}.thinned(4).windows))
	for step, season := range map[time.Duration]int{10 * time.Second: 360, 7 * time.Minute: 1, time.Hour: 24} {
		long := demandtest.Recorded{Series: forecast.Series{Step: step, Values: line(20_000)}}
		if s := windowSet([]demandtest.Recorded{long, long}, step, 1); s.season != season || len(s.windows) != 2*20 {
			t.Errorf("steps of %s: season %d and %d windows, want %d and 40", step, s.season, len(s.windows), season)
		}
	}
}

// In the table, a heading comes before a set's first row, and a method without figures has the reason.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	b := bench{out: &out}
	row := scoreRow{Name: "M4 hourly", Series: 2, Horizon: 48, Season: 24, MASE: 1.5}
	left := scoreRow{Name: "M4 hourly", Series: 2, Horizon: 48, Season: 24, Model: "R: ets", LeftOut: "too slow"}
	err := errors.Join(b.print(row), b.print(left))
	if got := out.String(); err != nil || strings.Count(got, "M4 hourly: 2 windows of 48 steps, season 24") != 1 ||
		!strings.Contains(got, " 1.500 ") || !strings.Contains(got, "left out: too slow\n") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestReadPeer(t *testing.T) {
	s := set{windows: []window{{id: "A", actual: []float64{1}}, {id: "B", actual: []float64{1}}}}
	row := "0.5\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\n"
	answers, err := s.readPeer(row + row)
	if err != nil || len(answers) != 2 || answers[1].cpu != time.Second/2 || answers[1].quantiles[median][0] != 6 {
		t.Errorf("the answers are %+v, %v", answers, err)
	}
	for printed, want := range map[string]string{
		row + "reached CPU time limit": "B: reached CPU time limit",
		row:                            "B: no answer",
		"0.5\t1":                       "A: 2 numbers of R, want 12",
		"x" + row:                      `value 1 is "x0.5"`,
	} {
		if _, err := s.readPeer(printed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", printed, err, want)
		}
	}
}

// The theta method forecasts a line on at half its slope. A method that fails in R is left out with R's reason.
func TestPeers(t *testing.T) {
	if err := exec.Command("Rscript", "-e", "library(forecast)").Run(); err != nil {
		t.Skip("no R package forecast (Debian: r-cran-forecast): ", err)
	}
	b := bench{options: options{history: 30, limit: time.Minute}, log: io.Discard}
	s := set{step: time.Minute, season: 1, windows: []window{{past: minutes(line(40)...), actual: []float64{40, 41}}}}
	theta, err := b.askPeer(s, "thetaf")
	if err != nil || math.Abs(theta[0].point[0]-39.5) > 0.1 || math.Abs(theta[0].point[1]-40) > 0.1 {
		t.Errorf("theta's answers are %+v, %v, want the medians 39.5 and 40", theta, err)
	}
	if _, err := b.askPeer(s, "stlf"); err == nil || !strings.Contains(err.Error(), "seasonal") {
		t.Errorf("stlf without a season: %v, want R's message", err)
	}
}

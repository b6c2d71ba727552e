package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write puts text in a file, gzipped where the name says so.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	content := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var buffer bytes.Buffer
		zip := gzip.NewWriter(&buffer)
		if _, err := zip.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		content = buffer.Bytes()
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// objects runs the command with --json and reads its lines; an object's keys are kept in alphabetical order.
func objects(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := run(append(args, "--json", "--peers="), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	for line := range strings.Lines(out.String()) {
		row := map[string]any{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// days is n days of hours that go from 10 to 33, each day higher by 1.
func days(n int) []string {
	var out []string
	for i := range 24 * n {
		out = append(out, strconv.Itoa(10+i%24+i/24))
	}
	return out
}

// m4 writes a training and a test file: the season, each day higher by 1, and in the second series by 2.
func m4(t *testing.T, dir string) (train, test string) {
	t.Helper()
	all := days(12)
	twice := make([]string, len(all))
	for i := range all {
		twice[i] = strconv.Itoa(10 + i%24 + 2*(i/24))
	}
	cut := 10 * 24
	train = write(t, dir, "train.csv.gz", fmt.Sprintf("\"V1\",\"V2\"\n\"A\",%s,,\n\"B\",%s,NA\n",
		strings.Join(all[:cut], ","), strings.Join(twice[:cut], ",")))
	test = write(t, dir, "test.csv", fmt.Sprintf("V1,V2\nB,%s\nA,%s\n",
		strings.Join(twice[cut:], ","), strings.Join(all[cut:], ",")))
	return train, test
}

// The seasonal naive method is behind by a day's rise on the first day and by two on the second: a MASE of 1.5. All
// seasonal differences are the rise, so are its standard errors (√2 of it on the second day), and the 95 % interval
// reaches 1.96 of them: it holds all of the first day, and misses none of the second, where 2 < 1.96·√2.
func TestM4(t *testing.T) {
	train, test := m4(t, t.TempDir())
	rows := objects(t, "--m4-train", train, "--m4-test", test, "--traces=", "--model=seasonal-naive")
	if len(rows) != 2 || rows[1]["model"] != "naive2" {
		t.Fatalf("%v, want the model and Naive2", rows)
	}
	row := rows[0]
	for key, want := range map[string]float64{
		"series": 2, "horizon": 48, "season": 24, "mase": 1.5, "coverage80": 0.5, "coverage95": 1,
		"msis95": 1.959963984540054 * (1 + math.Sqrt2),
	} {
		if got, found := row[key].(float64); !found || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", key, row[key], want)
		}
	}
	for _, key := range []string{"smape", "owa", "wql", "cpu_seconds_per_series"} {
		if got, found := row[key].(float64); !found || got <= 0 {
			t.Errorf("%s = %v, want more than 0", key, row[key])
		}
	}
	more := objects(t, "--m4-train", train, "--m4-test", test, "--traces=", "--model=last", "--budget=1ms")
	if len(more) != 4 || more[1]["model"] != "auto, budget 1ms" {
		t.Errorf("with a budget the rows are %v", more)
	}
	if row["set"] != "m4" || row["model"] != "seasonal-naive" || row["name"] != "M4 hourly" {
		t.Errorf("the row is %v", row)
	}
}

// On a line the last value is behind by the horizon: a model that is it has a ratio of 1.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("t,requests,tokens\n")
	for i := range 200 {
		fmt.Fprintf(&text, "%d,%d,%d\n", 60*i, i, 7*i)
	}
	write(t, dir, "rise.csv.gz", text.String())
	write(t, dir, "README.md", "no trace")
	rows := objects(t, "--m4-train=", "--m4-test=", "--traces", dir, "--sets=online", "--model=last")
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%v %v h=%v: %v of last, covers %v",
			row["set"], row["name"], row["horizon"], row["mae_ratio_last"], row["p95_coverage"]))
	}
	want := []string{
		// The standard error at h is √h: 1.64·√h is more than h up to 2.
		"trace rise/requests h=1: 1 of last, covers 1",
		"trace rise/requests h=5: 1 of last, covers 0",
		"trace rise/requests h=10: 1 of last, covers 0",
		"trace rise/requests h=15: 1 of last, covers 0",
		"trace rise/tokens h=1: 1 of last, covers 1",
		"trace rise/tokens h=5: 1 of last, covers 0",
		"trace rise/tokens h=10: 1 of last, covers 0",
		"trace rise/tokens h=15: 1 of last, covers 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The maxima of the last 5 and 15 are the last value, too low by 5; the quantile is too low by 5 − 1.64·√5.
	ratio := (5 - 1.6448536269514722*math.Sqrt(5)) / 5
	for _, key := range []string{"p95_ratio_max5", "p95_ratio_max15"} {
		if got, found := rows[1][key].(float64); !found || math.Abs(got-ratio) > 1e-12 {
			t.Errorf("%s = %v, want %v", key, rows[1][key], ratio)
		}
	}
}

// A trace that does not move has no error to be relative to.
func TestNoRatioIsNull(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "flat.csv", "t,requests\n"+strings.Join(func() (lines []string) {
		for i := range 100 {
			lines = append(lines, fmt.Sprintf("%d,3", 60*i))
		}
		return lines
	}(), "\n"))
	rows := objects(t, "--m4-train=", "--m4-test=", "--traces", dir, "--sets=online", "--model=last")
	if value, found := rows[0]["mae_ratio_last"]; !found || value != nil {
		t.Errorf("mae_ratio_last = %v, want null", value)
	}
}

// The figures that FORECASTING.md gives for R's seasonal naive and for Naive2 pin the definitions.
func TestFiguresOfTheEvenHalf(t *testing.T) {
	if os.Getenv("FOREWARM_DATA") == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with m4/hourly_even_train.csv.gz")
	}
	rows := objects(t, "--traces=", "--model=seasonal-naive,naive2")
	for i, want := range []map[string]float64{
		{
			"series": 207, "mase": 1.154, "smape": 13.85, "owa": 0.618, "coverage80": 0.85, "coverage95": 0.96,
			"msis95": 8.82,
		},
		{"mase": 2.358, "smape": 18.54, "owa": 1},
	} {
		for key, value := range want {
			// Half a unit in the last digit that is given.
			tolerance := map[string]float64{"smape": 0.005, "msis95": 0.005, "coverage80": 0.005, "coverage95": 0.005}[key]
			if got, found := rows[i][key].(float64); !found || math.Abs(got-value) > max(tolerance, 0.0005) {
				t.Errorf("%v: %s = %v, want %v", rows[i]["model"], key, rows[i][key], value)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	train, test := m4(t, dir)
	odd := write(t, dir, "odd.csv", "V1,V2\nC,1\n")
	word := write(t, dir, "word.csv", "V1,V2\nA,many\n")
	empty := t.TempDir()
	t.Setenv("FOREWARM_DATA", "")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no folder", nil, "FOREWARM_DATA is unset"},
		{"no folder for the traces", []string{"--m4-train=", "--m4-test="}, "FOREWARM_DATA is unset"},
		{"half a pair", []string{"--m4-train=", "--m4-test", test, "--traces="}, "belong together"},
		{"no set", []string{"--m4-train", train, "--m4-test", test, "--traces=", "--sets=x"}, "no set to score"},
		{"unknown peer", []string{"--m4-train=", "--m4-test=", "--traces=", "--peers=best"}, `unknown peer "best"`},
		{"no history", []string{"--m4-train=", "--m4-test=", "--traces=", "--peer-history=0"}, "--peer-history 0"},
		{"unknown model", []string{"--m4-train=", "--m4-test=", "--traces=", "--model=best"}, `unknown model "best": write one of`},
		{"an argument too many", []string{"x"}, `unexpected argument "x"`},
		{"another series", []string{"--m4-train", train, "--m4-test", odd, "--traces="}, "series A"},
		{"a word", []string{"--m4-train", word, "--m4-test", test, "--traces="}, `row 2: value 1 is "many"`},
		{"no traces", []string{"--m4-train=", "--m4-test=", "--traces", empty}, "no .csv"},
		{"no such file", []string{"--m4-train=none.csv", "--m4-test", test, "--traces="}, "none.csv"},
	} {
		if err := run(c.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

package trace_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

func at(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func TestRead(t *testing.T) {
	nan := math.NaN()
	want := forecast.Series{Start: at(0), Step: time.Minute, Values: []float64{1, nan, 3.5, nan, 5}}
	const midnight = 1577836800 // 2020-01-01T00:00:00Z
	tests := []struct{ name, text string }{
		{"a blank and a missing row are gaps", "t,a,b\n0,9,1\n60,9,\n120,9,3.5\n240,9,5\n"},
		{"RFC 3339", "time,b\n2020-01-01T00:00:00Z,1\n2020-01-01T00:01:00Z,\n2020-01-01T01:02:00+01:00,3.5\n" +
			"2020-01-01T00:04:00.000Z,5"},
		{"a spreadsheet's marks", "\ufefft, b \r\n0, 1 \r\n60,\"\"\r\n120,3.5e0\r\n240,5\r\n"},
		{"seconds with decimals", "t,b\n0.0,1\n60.0,\n1.2e2,3.5\n240,5\n"},
		{"semicolons", "t;a, in kW;b\n0;9;1\n60;9;\n120;9; 3.5\n240;9;5\n"},
		{"words for gaps", "t,b\n0,1\n60,NaN\n120,3.5\n180,undefined\n240,5\n"},
		{"Grafana", "\"Time\",\"b\"\n2020-01-01 00:00:00,1\n2020-01-01 00:01:00,null\n2020-01-01 00:02:00,3.50\n" +
			"2020-01-01 00:04:00.000,5\n"},
		{"Grafana for a European Excel", "\ufeffsep=;\r\n\"Time\";\"b\"\r\n2020-01-01 00:00:00;\"1,0 req/s\"\r\n" +
			"2020-01-01 00:01:00;\r\n2020-01-01 00:02:00;3,50 req/s\r\n2020-01-01 00:04:00;5 req/s"},
		{"tabs", "\ufeff\"t, s\"\ta\tb\r\n0\t\t1\r\n60\t\t\r\n120\t9\t 3.5\r\n240\t9\t5\r\n"},
	}
	for _, tt := range tests {
		got, err := trace.ReadColumn(strings.NewReader(tt.text), "b")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		want := want
		if strings.Contains(tt.text, "2020") {
			want.Start = at(midnight)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s: want -, got +:\n%s", tt.name, diff)
		}
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"empty", "", "the file is empty"},
		{"one column", "t\n0\n", "1 column;"},
		{"no header", "0,5\n60,6\n", "expected a header"},
		{"a column twice", "t,b,b\n0,1,1\n", `column 3 has the name "b"`},
		{"a column without a name", "t,b,\n0,1,1\n", `column 3 has the name ""`},
		{"unknown column", "t,requests,tokens\n0,1,1\n", `no column "b"; the value columns are requests, tokens`},
		{"one row", "t,b\n0,1\n", "1 rows"},
		{"garbage", "t,b\n0,1\n60,many\n", `line 3, column b: value "many"`},
		{
			"other separators", "t|b\n0|1\n60|1\n",
			"1 column; expected a time and 1 to 999 values, separated by commas, semicolons",
		},
		{
			"thousands or decimals",
			"t;b\n0;1,5\n60;1,500\n",
			`line 3, column b: value "1,500": the comma or point may separate decimals or thousands: set the decimal separator with --decimal`,
		},
		{"a comma for a point", "t,b\n0,1\n60,\"1,5\"\n", `line 3, column b: value "1,5"`},
		{"infinite", "t,b\n0,1\n60,+Inf\n", "line 3, column b: value +Inf"},
		{"overflow", "t,b\n0,1\n60,1e999\n", "line 3, column b: value 1e999: too large for demand"},
		{
			"too large", "t,b\n0,1\n60,1.1e15\n",
			"line 3, column b: value 1.1e15: too large for demand, which is at most 1e+15",
		},
		{
			"a scaled unit", "t,b\n0,900 ms\n60,1.2 s\n",
			`line 2, column b: value "900 ms": expected a number, or nothing for a gap; in Grafana`,
		},
		{
			"another unit",
			"t,b\n0,9 req/s\n60,9\n",
			`line 3, column b: value "9": all values must have the same unit, and the unit of the first value is "req/s"`,
		},
		{"an unknown separator", "sep=|\nt|b\n", "line 1 says sep=|"},
		{
			"an ambiguous date", "t,b\n10/11/2025 00:00,1\n",
			`line 2, column 1: time "10/11/2025 00:00": it is unclear which number is the day`,
		},
		{
			"an hour that is repeated", "t,b\n2020-10-25 02:58:00,1\n2020-10-25 02:59:00,1\n2020-10-25 02:00:00,2\n",
			"set the time zone with --time-zone",
		},
		{"negative", "t,b\n0,1\n60,-1\n", "line 3, column b: value -1: demand cannot be negative"},
		{"a time that is none", "t,b\n0,1\nyesterday,1\n", `line 3, column 1: time "yesterday"`},
		{"a negative time", "t,b\n-60,1\n0,1\n", "line 2, column 1"},
		{
			"the same time",
			"t,b\n0,1\n60,1\n60,2\n",
			"line 4: its time equals the time of line 3; to sort the rows and to take the mean of rows with the same time, add --resample 1m",
		},
		{"not sorted", "t,b\n0,1\n120,1\n60,2\n", "line 4: its time is before the time of line 3"},
		{
			"irregular",
			"t,b\n0,1\n60,1\n120,1\n150,2\n210,2\n",
			"line 5: its time is 2m30s after the first row, which is not a multiple of the step of 1m0s; for an even step, add --resample 1m",
		},
		{"a row too short", "t,b\n0,1\n60\n", "line 3"},
		{"a quote left open", "t,b\n0,\"1\n60,2\n", "line"},
		{"a hole of ages", "t,b\n0,1\n1,1\n2,1\n2500000000,1\n", "remove the rows without a real time"},
		{"a step of ages", "t,b\n0,1\n250000000000,1\n", "expected at most 100 years from 0"},
	}
	for _, tt := range tests {
		_, err := trace.ReadColumn(strings.NewReader(tt.text), "b")
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want one that says %q", tt.name, err, tt.says)
			continue
		}
		if _, value, named := strings.Cut(tt.says, "value "); named && strings.Count(err.Error(), value) > 1 {
			t.Errorf("%s: %v: names the value twice", tt.name, err)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	zipped := packed(t, "t,b\n0,1\n60,2\n")
	for name, content := range map[string][]byte{
		"plain.csv": []byte("t,b\n0,1\n60,2\n"), "zipped.csv.gz": zipped, "zipped.csv": zipped,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := trace.ReadFile(path, "b")
		if err != nil || !cmp.Equal(got.Values, []float64{1, 2}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if columns, err := trace.FileColumns(path); err != nil || !cmp.Equal(columns, []string{"b"}) {
			t.Errorf("%s: columns %v, %v", name, columns, err)
		}
	}
	broken := filepath.Join(dir, "broken.csv.gz")
	if err := os.WriteFile(broken, zipped[:len(zipped)-6], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, filepath.Join(dir, "missing.csv"), dir} {
		if _, err := trace.ReadFile(path, "b"); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names the file", path, err)
		}
	}
}

// A damaged gzip file is said to be one, and where, also where it was unpacked to garbage before it told.
func TestDamagedGzip(t *testing.T) {
	var text strings.Builder
	text.WriteString("t,b\n")
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d,%d\n", 60*i, i*i%977)
	}
	zipped := packed(t, text.String())
	flipped := func(at int) []byte {
		out := bytes.Clone(zipped)
		out[at] ^= 0xff
		return out
	}
	n := len(zipped)
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"cut in its header":  {zipped[:5], `the gzip file is damaged at its start: unexpected EOF`},
		"cut in half":        {zipped[:n/2], `the gzip file is truncated in line \d{4,5} of its content`},
		"cut at its end":     {zipped[:n-6], `the gzip file is truncated in line 20002 of its content`},
		"a byte in the half": {flipped(n / 2), `the gzip file is damaged at or before line \d{4,5} of its content: `},
		"a wrong checksum":   {flipped(n - 6), `the gzip file is damaged at or before line 20002 of its content: gzip: invalid`},
	} {
		_, err := trace.ReadColumn(bytes.NewReader(c.content), "b")
		if err == nil || !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if _, err := trace.ReadColumn(bytes.NewReader(zipped), "c"); err == nil ||
		strings.Contains(err.Error(), "gzip") {
		t.Errorf("a wrong column of a whole file: %v", err)
	}
}

// A line without an end, as a gzip bomb may hold, ends at the limit.
func TestReadBounded(t *testing.T) {
	_, err := trace.ReadColumn(endless(strings.Repeat("0,", 4096)), "b")
	if err == nil || !strings.Contains(err.Error(), "a line is longer than") {
		t.Errorf("error %v, want one that says the limit", err)
	}
}

type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }

// The recorded traces, all of them, by what their README says of each.
func TestRecordedTraces(t *testing.T) {
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		t.Skip("FOREWARM_DATA is not set: the recorded traces are not at hand")
	}
	tests := []struct {
		file, column string
		step         time.Duration
		points       int
	}{
		{"azure2023_conv_10s", "requests", 10 * time.Second, 351},
		{"azure2023_conv_10s", "output_tokens", 10 * time.Second, 351},
		{"nab_Twitter_volume_AMZN", "value", 5 * time.Minute, 15831},
		{"nab_ec2_cpu_utilization_ac20cd", "value", 5 * time.Minute, 4037},
		{"nab_elb_request_count_8c0756", "value", 5 * time.Minute, 4040},
		{"nab_nyc_taxi", "value", 30 * time.Minute, 10320},
		{"servegen_m-small_rate_10min", "m-small", 10 * time.Minute, 2016},
		{"servegen_m-small_requests_per_minute_resampled", "requests", time.Minute, 20160},
		{"servegen_mm-image_requests_per_minute_resampled", "requests", time.Minute, 1440},
		{"worldcup98_requests_per_minute_first_60000", "requests", time.Minute, 60000},
	}
	read := map[string]bool{}
	for _, tt := range tests {
		path := filepath.Join(dir, "traces", tt.file+".csv.gz")
		read[path] = true
		got, err := trace.ReadFile(path, tt.column)
		if err != nil {
			t.Error(err)
			continue
		}
		if got.Step != tt.step || got.Len() != tt.points {
			t.Errorf("%s: %d points by %v, want %d by %v", tt.file, got.Len(), got.Step, tt.points, tt.step)
		}
	}
	all, err := filepath.Glob(filepath.Join(dir, "traces", "*.csv.gz"))
	if err != nil || len(all) != len(read) {
		t.Errorf("read %d traces of %d (%v)", len(read), len(all), err)
	}
}

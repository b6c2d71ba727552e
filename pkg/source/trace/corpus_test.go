package trace_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/forewarm/forewarm/pkg/source/trace"
)

// minutes are four rows by the minute from 20 October 2025 on, in a form.
func minutes(header, form string) string {
	var out strings.Builder
	out.WriteString(header + "\n")
	for i := range 4 {
		at := time.Date(2025, 10, 20, 0, i, 0, 0, time.UTC)
		fmt.Fprintf(&out, "%s,%d\n", at.Format(form), 940+i)
	}
	return out.String()
}

// page is an answer of a Prometheus with a value for each minute from one to another.
func page(from, to int) string {
	var values []string
	for i := from; i <= to; i++ {
		values = append(values, fmt.Sprintf("[%d,\"%d\"]", 1760918400+60*i, i))
	}
	return `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[` + strings.Join(
		values,
		",",
	) + "]}]}}\n"
}

// hosts are so many minutes of one host, then those of another.
func hosts(n int) string {
	var out strings.Builder
	out.WriteString("t,n\n")
	for range 2 {
		for i := range n {
			fmt.Fprintf(&out, "%d,%d\n", 1760918400+60*i, i)
		}
	}
	return out.String()
}

// reversed is a table with its last row first.
func reversed(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Reverse(lines[1:])
	return strings.Join(lines, "\n") + "\n"
}

// inUTF16 is a text as PowerShell writes it.
func inUTF16(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

func inZstd(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Files as people have them are read right, or refused with the way out. What is understood is the first time, the step, and the values.
func TestFilesAsPeopleHaveThem(t *testing.T) {
	const all = "2025-10-20T00:00:00Z 1m0s [940 941 942 943]"
	none, quoted := trace.Options{}, func(form string) string { return `"` + form + `"` }
	plain := minutes("t,requests", time.RFC3339)
	for _, c := range []struct {
		name, text string
		options    trace.Options
		column     string
		// want is what is understood or, after a !, a part of the error.
		want string
	}{
		{
			"Envoy's default format", "[2025-10-20T00:00:00.310Z] \"POST /v1 HTTP/2\" 204 - 154 0 226 100 \"-\" \"curl\"\n" +
				"[2025-10-20T00:01:00.310Z] \"POST /v1 HTTP/2\" 200 UF,URX 154 90 226 100 \"-\" \"curl\"\n",
			trace.Options{Count: time.Minute},
			"", "2025-10-20T00:00:00Z 1m0s [1 1]",
		},
		{
			"a pod's log", "/docker-entrypoint.sh: ready, go\n[pod/a/nginx] 10.0.0.1 - - [20/Oct/2025:00:00:01 +0000] \"GET / HTTP/1.1\" 200 5\n" +
				"web-1  | 10.0.0.1 - - [20/Oct/2025:00:01:01 +0000] \"GET / HTTP/1.1\" 200 5\n",
			trace.Options{Count: time.Minute},
			"", "2025-10-20T00:00:00Z 1m0s [1 1]",
		},
		{"two pages", page(0, 1) + page(2, 3), none, "", "!such as pages, join them: jq -s '.[0].data.result[0].values"},
		{"two pages of CloudWatch", `{"Datapoints":[]}` + "\n" + `{"Datapoints":[]}`, none, "", "!jq -s '{Datapoints: map(.Datapoints) | add}'"},
		{"two lists", "[1]\n[2]", none, "", "!jq -s add"},
		{"an object that is cut off", `{"ts": "2025-10-20T00:00:00Z", "n": 11}` + "\n" + `{"ts": "2025-10-20T00:01:00Z", "n": 1`, none, "", "!is cut off"},
		{"two objects on a line", `{"ts": "2025-10-20T00:00:00Z", "n": 1}` + "\n" + `{"ts":"2025-10-20T00:01:00Z","n":2}{"ts":"2025-10-20T00:02:00Z","n":3}`, none, "", "!jq -c ."},
		{"a null first", `{"ts": "2025-10-20T00:00:00Z", "n": null, "e": 1}` + "\n" + `{"ts": "2025-10-20T00:01:00Z", "n": 2, "e": 3}`, none, "", "!choose one with --column: n, e"},
		{"a member that comes later", `{"ts": "2025-10-20T00:00:00Z"}` + "\n" + `{"ts": "2025-10-20T00:01:00Z", "n": 2}`, none, "", "2025-10-20T00:00:00Z 1m0s [NaN 2]"},
		{"logs with a status", `{"ts": "2025-10-20T00:00:00Z", "status": 200}` + "\n" + `{"ts": "2025-10-20T00:01:00Z", "status": 500}`, none, "", "2025-10-20T00:00:00Z 1m0s [200 500]"},
		{"a list with value", `[{"timestamp":"2025-10-20T00:00:00Z","value":69},{"timestamp":"2025-10-20T00:01:00Z","value":70}]`, none, "", "2025-10-20T00:00:00Z 1m0s [69 70]"},
		{"no header", "DATAPOINTS\t69.0\t2025-10-20T00:00:00Z\nDATAPOINTS\t70.0\t2025-10-20T00:05:00Z\n", none, "", "!line 1 has the time 2025-10-20T00:00:00Z; expected a header"},
		{"German thousands between commas", "t,n\n20.10.2025 00:00,954\n20.10.2025 00:01,1.011\n20.10.2025 00:02,987\n", none, "", "!--decimal"},
		{"three decimals between commas", "t,n\n2025-10-20 00:00,954.125\n2025-10-20 00:01,1.011\n", none, "", "2025-10-20T00:00:00Z 1m0s [954.125 1.011]"},
		{"Swiss thousands", "t;n;errors\n2025-10-20 00:00;1'207;0\n2025-10-20 00:01;954;2\n", none, "n", "2025-10-20T00:00:00Z 1m0s [1207 954]"},
		{"French thousands", "t;n\n2025-10-20 00:00;1\u202f207\n2025-10-20 00:01;954,5\n", none, "", "2025-10-20T00:00:00Z 1m0s [1207 954.5]"},
		{"French thousands of Windows", "t;n\n2025-10-20 00:00;1\xa0207\n2025-10-20 00:01;954\n", none, "", "2025-10-20T00:00:00Z 1m0s [1207 954]"},
		{"a scaled column next to a plain one", "t,n,errors\n2025-10-20 00:00,0.21 K,1\n2025-10-20 00:01,0.22 K,2\n", none, "", "!choose one with --column: n, errors"},
		{"an id before dates", "id,created_at,n\n1200000000,2025-10-20 00:00:00,1\n1200000060,2025-10-20 00:01:00,2\n", none, "n", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"an uptime before dates", "uptime,timestamp,n\n5000,2025-10-20 00:00:00,1\n5060,2025-10-20 00:01:00,2\n", none, "n", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"minutes since 1970", "time,n\n29348640,1\n29348641,2\n29348642,3\n", none, "", "!may be minutes since 1970: then add --time-unit m"},
		{"minutes since 1970, as said", "time,n\n29348640,1\n29348641,2\n", trace.Options{TimeUnit: "m"}, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"ticks", "time,n\n638965152000000000,1\n638965152600000000,2\n", none, "", "!.NET ticks"},
		{"rounded seconds", "time,n\n1.76092E+09,1\n1.76092E+09,2\n", none, "", "!a spreadsheet has rounded it"},
		{"a spreadsheet's days, as said", "time,n\n45950,1\n45951,2\n", trace.Options{TimeUnit: "d"}, "", "2025-10-20T00:00:00Z 24h0m0s [1 2]"},
		{"a zone without an offset", "t,n\n2025-10-20T00:00:00[Europe/Berlin],1\n2025-10-20T00:01:00[Europe/Berlin],2\n", none, "", "!expected a date"},
		{"a Finnish month", "t,n\n20 marras 2025 00:00,1\n20 marras 2025 00:01,2\n", none, "", "!expected a date"},
		{"the wrong decimal sign", "t;n\n2025-10-20 00:00;69.5\n2025-10-20 00:01;70\n", trace.Options{Decimal: ","}, "", "!groups of three digits"},
		{"Indian thousands", "t;n\n2025-10-20 00:00;1,79,069\n2025-10-20 00:01;70\n", trace.Options{Decimal: "."}, "", "2025-10-20T00:00:00Z 1m0s [179069 70]"},
		{"several hosts", hosts(30), none, "", "!if the file has several series, add them up with --sum 1m"},
		{"the newest first", reversed(plain), none, "", "!to sort the rows and to take the mean of rows with the same time, add --resample 1m"},
		{"the newest first, resampled", reversed(plain), trace.Options{Resample: time.Minute}, "", all},
		{"days and hours apart", "Date,Time,Requests\n2025-10-20,00:05:00,60\n2025-10-20,00:10:00,61\n", none, "", "!Date has days, and column Time has the time of day: write both in one column: sed"},
		{"no real time first", "t,n\n0,1\n1760918400,2\n1760918460,3\n", none, "", "!they start at 0 and go up to the year 2025"},
		{"a day first", "t,n\n20/10/2025 00:00,1\n", none, "", "!\\3-\\2-\\1 where the day does"},
		{"negative in German", "t;n\n2025-10-20 00:00;-1,5\n2025-10-20 00:01;2\n", none, "", "!sed -E 's/; *\"?-[0-9.eE+,-]+"},
		{"a total at the end", "t,n\n2025-10-20 00:00,1\n2025-10-20 00:01,2\nTotal\n", none, "", "!if this is a total or a comment, remove the line"},
		{"PostgreSQL", minutes("bucket,requests", "2006-01-02 15:04:05-07"), none, "", all},
		{"strftime %z", minutes("t,requests", "2006-01-02T15:04:05-0700"), none, "", all},
		{"BigQuery", minutes("ts,requests", "2006-01-02 15:04:05 UTC"), none, "", all},
		{"Snowflake", "ts,requests\n2025-10-20 02:00:00.000 +0200,940\n2025-10-20 02:01:00.000 +0200,941\n", none, "", "2025-10-20T00:00:00Z 1m0s [940 941]"},
		{"CloudWatch's console", minutes("t,requests", "2006/01/02 15:04:05"), none, "", all},
		{"minutes alone", minutes("t,requests", "2006-01-02T15:04"), none, "", all},
		{"minutes in UTC", minutes("t,requests", "2006-01-02T15:04Z"), none, "", all},
		{"an access log", minutes("t,requests", "02/Jan/2006:15:04:05 -0700"), none, "", all},
		{"an access log's brackets", minutes("t,requests", "[02/Jan/2006:15:04:05 -0700]"), none, "", all},
		{"Kibana", minutes(`"@timestamp per minute",Count`, quoted("Jan 2, 2006 @ 15:04:05.000")), none, "", all},
		{"HTTP", minutes("t,requests", quoted("Mon, 02 Jan 2006 15:04:05 GMT")), none, "", all},
		{"date(1)", minutes("t,requests", "Mon Jan  2 15:04:05 UTC 2006"), none, "", all},
		{"Go", minutes("t,requests", "2006-01-02 15:04:05 -0700 MST"), none, "", all},
		{"ISO 8601, basic", minutes("t,requests", "20060102T150405Z"), none, "", all},
		{"German", minutes("Zeit,requests", "02.01.2006 15:04"), none, "", all},
		{"American hours", minutes("t,requests", "2006-01-02 03:04:05 PM"), none, "", all},
		{"days", "Date,Cat\n2025-10-20,1000\n2025-10-21,1001\n", none, "", "2025-10-20T00:00:00Z 24h0m0s [1000 1001]"},
		{"compact", minutes("t,requests", "200601021504"), none, "", all},
		{"compact, with seconds", minutes("t,requests", "20060102150405"), none, "", all},
		{"compact days", "d,n\n20251020,1\n20251021,2\n", none, "", "2025-10-20T00:00:00Z 24h0m0s [1 2]"},
		{"compact hours", "d,n\n2025102000,1\n2025102001,2\n", none, "", "2025-10-20T00:00:00Z 1h0m0s [1 2]"},
		{"milliseconds", "t,n\n1760918400000,1\n1760918460000,2\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"microseconds", "t,n\n1760918400000000,1\n1760918460000000,2\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"nanoseconds", "t,n\n1760918400000000000,1\n1760918460000000000,2\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"which day is which", "t,n\n10/11/2025 00:00,1\n10/11/2025 00:01,2\n", none, "", "!it is unclear which number is the day"},
		{"a year of another unit", "t,n\n17609184000,1\n17609184600,2\n", none, "", "!it is in the year 2528; expected a year from 1990 to 2100"},
		{"a spreadsheet's days", "time,n\n45950.000000,1\n45950.000694,2\n45950.001389,3\n", none, "", "!format the column as yyyy-mm-dd hh:mm:ss"},
		{"pandas", ",timestamp,requests\n0,2025-10-20 00:00:00,1\n1,2025-10-20 00:01:00,2\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"an index", "id,requests\n0,1\n1,2\n2,3\n", none, "", "!which look like row numbers: set the column that has the times with --time-column"},
		{"an index by another name", "sample,requests\n1,1\n2,2\n3,3\n", none, "", "!which look like row numbers: set the column"},
		{"minutes that are counted", "minute,requests\n0,1\n1,2\n", none, "", "!if these are minutes, add --time-unit m"},
		{"minutes that are counted, said", "minute,requests\n0,1\n1,2\n", trace.Options{TimeUnit: "m"}, "", "1970-01-01T00:00:00Z 1m0s [1 2]"},
		{"seconds from 0", "t,requests\n0,1\n30,2\n", none, "", "1970-01-01T00:00:00Z 30s [1 2]"},
		{"Datadog", "group,time,value\n*,2025-10-20T00:00:00.000Z,1\n*,2025-10-20T00:01:00.000Z,2\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 2]"},
		{"a count and a mean", "time,n,mean\n2025-10-20 00:00,5,0.2\n2025-10-20 00:01,6,0.3\n", none, "", "!choose one with --column: n, mean"},
		{
			"two series", "group,time,value\na,2025-10-20 00:00,1\nb,2025-10-20 00:00,5\na,2025-10-20 00:01,2\nb,2025-10-20 00:01,6\n" +
				"a,2025-10-20 00:02,2\nb,2025-10-20 00:02,6\n", none, "", "!or rows of several series",
		},
		{
			"two series, added up", "group,time,value\na,2025-10-20 00:00,1\nb,2025-10-20 00:00,5\na,2025-10-20 00:01,2\nb,2025-10-20 00:01,6\n",
			trace.Options{Sum: time.Minute},
			"", "2025-10-20T00:00:00Z 1m0s [6 8]",
		},
		{
			"two columns of times", "n,start,end\n1,2025-10-20 00:00,2025-10-20 00:01\n2,2025-10-20 00:01,2025-10-20 00:02\n", none, "",
			"!choose one with --time-column: start, end",
		},
		{
			"two columns of times, said", "n,start,end,load\n1,2025-10-20 00:00,2025-10-20 00:01,5\n2,2025-10-20 00:01,2025-10-20 00:02,6\n",
			trace.Options{TimeColumn: "end"},
			"load", "2025-10-20T00:01:00Z 1m0s [5 6]",
		},
		{
			"a German spreadsheet", "Zeit;Anfragen\n2025-10-20 00:00;987\n2025-10-20 00:01;1.012\n", none, "",
			"!may separate thousands or decimals: set the decimal separator with --decimal , or --decimal .",
		},
		{
			"a German spreadsheet, said", "Zeit;Anfragen\n2025-10-20 00:00;987\n2025-10-20 00:01;1.012,5\n",
			trace.Options{Decimal: ","},
			"",
			"2025-10-20T00:00:00Z 1m0s [987 1012.5]",
		},
		{"thousands, said", "t,n\n2025-10-20 00:00,987\n2025-10-20 00:01,\"1,012\"\n", trace.Options{Decimal: "."}, "", "2025-10-20T00:00:00Z 1m0s [987 1012]"},
		{"three decimals", "t;n\n2025-10-20 00:00;0.987\n2025-10-20 00:01;1.012\n", none, "", "2025-10-20T00:00:00Z 1m0s [0.987 1.012]"},
		{`R and \N`, "t,n\n2025-10-20 00:00,1\n2025-10-20 00:01,NA\n2025-10-20 00:02,3\n2025-10-20 00:03,\\N\n", none, "", "2025-10-20T00:00:00Z 1m0s [1 NaN 3 NaN]"},
		{"UTF-16", inUTF16(plain), none, "", all},
		{"carriage returns", strings.ReplaceAll(plain, "\n", "\r"), none, "", all},
		{"zstd", inZstd(t, plain), none, "", all},
		{"xz", "\xfd7zXZ\x00rest", none, "", "!unpack it with xz -dc FILE > load.csv"},
		{"bzip2", "BZh91AY", none, "", "!bzip2 -dc FILE > load.csv"},
		{"zip", "PK\x03\x04rest", none, "", "!or a spreadsheet (save a spreadsheet as CSV)"},
		{"InfluxDB", "#group,false,false\n#datatype,string,long\n", none, "", "!grep -v '^#' FILE > load.csv"},
		{"promtool tsdb dump", "{__name__=\"requests\"} 475.5 1760918400000\n", none, "", "!awk "},
		{"a dump in OpenMetrics", "# TYPE requests gauge\nrequests{job=\"x\"} 475.5 1760918400\n", none, "", "!awk "},
		{
			"CloudWatch", `{"MetricDataResults": [{"Id": "m1", "Label": "RequestCount", "Timestamps": ["2025-10-20T00:01:00+00:00", ` +
				`"2025-10-20T00:00:00+00:00"], "Values": [2, 1], "StatusCode": "Complete"}]}`, none, "", "2025-10-20T00:00:00Z 1m0s [1 2]",
		},
		{
			"CloudWatch, in part", `{"MetricDataResults": [{"Timestamps": [], "Values": [], "StatusCode": "PartialData"}]}`, none, "",
			"!is partial",
		},
		{
			"CloudWatch's statistics", `{"Label": "n", "Datapoints": [{"Timestamp": "2025-10-20T00:01:00Z", "Sum": 2, "Unit": "Count"}, ` +
				`{"Timestamp": "2025-10-20T00:00:00Z", "Sum": 1}]}`, none, "", "2025-10-20T00:00:00Z 1m0s [1 2]",
		},
		{
			"VictoriaMetrics", `{"metric": {"__name__": "n"}, "values": [1, 2], "timestamps": [1760918400000, 1760918460000]}` + "\n" +
				`{"metric": {"__name__": "n"}, "values": [3], "timestamps": [1760918520000]}`, none, "", "2025-10-20T00:00:00Z 1m0s [1 2 3]",
		},
		{
			"VictoriaMetrics, two series", `{"metric": {"a": "1"}, "values": [1], "timestamps": [1]}` + "\n" +
				`{"metric": {"a": "2"}, "values": [1], "timestamps": [1]}`, none, "", "!several series",
		},
		{
			"a partial answer", `{"status":"success","isPartial":true,"data":{"result":[{"values":[[0,"1"]]}]}}`, none, "", "!is partial",
		},
		{
			"a warning of Thanos", `{"status":"success","warnings":["no store: partial response"],"data":{"result":[{"values":[[0,"1"]]}]}}`,
			none, "", "!may be incomplete (no store: partial response)",
		},
		{
			"a warning about the query", `{"status":"success","warnings":["PromQL info: n"],"data":{"result":[{"values":[[1760918400,"1"],` +
				`[1760918460,"2"]]}]}}`, none, "", "2025-10-20T00:00:00Z 1m0s [1 2]",
		},
		{
			"objects", `{"ts": "2025-10-20T00:00:00Z", "n": 1, "tags": ["a"]}` + "\n" + `{"n": 2, "ts": "2025-10-20T00:01:00Z"}` + "\n", none, "",
			"2025-10-20T00:00:00Z 1m0s [1 2]",
		},
		{
			"a list of objects", `[{"n": 1, "ts": "2025-10-20T00:00:00Z"}, {"ts": "2025-10-20T00:01:00Z", "n": 2}]`, none, "",
			"2025-10-20T00:00:00Z 1m0s [1 2]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.options.ReadColumn(strings.NewReader(c.text), c.column)
			if refused, ok := strings.CutPrefix(c.want, "!"); ok {
				if err == nil || !strings.Contains(err.Error(), refused) {
					t.Errorf("%v and %v, want an error that says %q", got.Values, err, refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprintf("%s %s %v", got.Start.Format(time.RFC3339), got.Step, got.Values); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
}

// events are those of a file with a row for each: unsorted, several at a time, with tokens.
const events = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n" +
	"2023-11-16 18:15:50.9951690,879,55\n2023-11-16 18:17:01.2224670,91,16\n2023-11-16 18:16:59.0000000,,16\n"

// A row for each event is no series: it is counted, or added up, if that is asked for, and never by itself. A step without an event is 0.
func TestEvents(t *testing.T) {
	for _, column := range []string{"", "ContextTokens"} {
		if _, err := new(trace.Options).ReadColumn(strings.NewReader(events), column); err == nil ||
			!strings.Contains(err.Error(), "one row for each event") || !strings.Contains(err.Error(), "--count 1m") {
			t.Errorf("%q: %v", column, err)
		}
	}
	sparse := strings.Replace(events, "18:17:01", "18:19:01", 1)
	for name, c := range map[string]struct {
		text    string
		options trace.Options
		column  string
		want    []float64
	}{
		"counted":            {events, trace.Options{Count: time.Minute}, "", []float64{3, 1, 1}},
		"tokens":             {events, trace.Options{Sum: time.Minute}, "ContextTokens", []float64{1649, 0, 91}},
		"a minute without":   {sparse, trace.Options{Count: time.Minute}, "", []float64{3, 1, 0, 0, 1}},
		"milliseconds":       {"{\"timestamp\": 0, \"n\": 1}\n{\"timestamp\": 0, \"n\": 1}\n{\"timestamp\": 2100, \"n\": 1}\n", trace.Options{Count: time.Second, TimeUnit: "ms"}, "", []float64{2, 0, 1}},
		"the mean, of a few": {"t,n\n2025-10-20 00:01,3\n2025-10-20 00:00,1\n2025-10-20 00:00,2\n", trace.Options{Resample: time.Minute}, "", []float64{1.5, 3}},
	} {
		got, err := c.options.ReadColumn(strings.NewReader(c.text), c.column)
		if err != nil || fmt.Sprint(got.Values) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got.Values, err, c.want)
		}
	}
}

// An access log is counted as it is, and lines that are none are told. So are times alone.
func TestAccessLogs(t *testing.T) {
	const log = `10.0.0.1 - - [20/Oct/2025:00:00:01 +0000] "POST /v1/chat/completions HTTP/1.1" 200 1234 "-" "curl/8"
10.0.0.2 - bob [20/Oct/2025:00:00:59 +0000] "GET / HTTP/2.0" 200 100
\x16\x03 garbage
10.0.0.1 - - [20/Oct/2025:02:02:00 +0200] "GET \"a\" HTTP/1.1" 499 - "-" "x"
`
	if _, err := new(trace.Options).ReadColumn(strings.NewReader(log), ""); err == nil ||
		!strings.Contains(err.Error(), "one row for each event") {
		t.Error(err)
	}
	got, err := (&trace.Options{Count: time.Minute}).ReadColumn(strings.NewReader(log), "")
	if err != nil || fmt.Sprint(got.Values) != "[2 0 1]" ||
		!strings.Contains(strings.Join(got.Notes, "\n"), "1 lines are not access log lines") {
		t.Errorf("%v, %q, %v", got.Values, got.Notes, err)
	}
	got, err = (&trace.Options{Sum: time.Minute}).ReadColumn(strings.NewReader(log), "bytes")
	if err != nil || fmt.Sprint(got.Values) != "[1334 0 0]" {
		t.Errorf("%v, %v", got.Values, err)
	}
	const alone = "at\n2025-10-20 00:00:03\n2025-10-20 00:01:05\n"
	got, err = (&trace.Options{Count: time.Minute}).ReadColumn(strings.NewReader(alone), "")
	if err != nil || fmt.Sprint(got.Values) != "[1 1]" {
		t.Errorf("%v, %v", got.Values, err)
	}
}

// A few rows to which a converter gave the same time are no events: they are told, and merged on a step.
func TestMergedRowsAreTold(t *testing.T) {
	var text strings.Builder
	text.WriteString("timestamp,value\n")
	for i := range 200 {
		at := time.Date(2014, 3, 9, 0, 5*i, 0, 0, time.UTC)
		if i >= 36 && i < 48 {
			at = time.Date(2014, 3, 9, 3, 0, 0, 0, time.UTC)
		}
		fmt.Fprintf(&text, "%s,%d\n", at.Format(time.DateTime), i)
	}
	_, err := new(trace.Options).ReadColumn(strings.NewReader(text.String()), "value")
	if err == nil ||
		!strings.Contains(err.Error(), "line 39: its time equals the time of line 38; to sort the rows") {
		t.Error(err)
	}
	got, err := (&trace.Options{Resample: 5 * time.Minute}).ReadColumn(strings.NewReader(text.String()), "value")
	if err != nil || got.Merged != 11 || got.Values[36] != 41.5 || !math.IsNaN(got.Values[37]) {
		t.Errorf("%d merged, %v, %v", got.Merged, got.Values[36:38], err)
	}
}

// Rows that go on with another step are read on the grid of the most, and that is noted.
func TestAChangedStepIsNoted(t *testing.T) {
	var text strings.Builder
	text.WriteString("t,value\n")
	at := 1760918400
	for i := range 60 {
		at += 60
		if i >= 40 {
			at += 240
		}
		fmt.Fprintf(&text, "%d,%d\n", at, i)
	}
	got, err := new(trace.Options).ReadColumn(strings.NewReader(text.String()), "value")
	if err != nil || got.Step != time.Minute || len(got.Notes) != 1 ||
		!strings.Contains(got.Notes[0], "the step changes: it is 5m at line 53") {
		t.Errorf("%s, %q, %v", got.Step, got.Notes, err)
	}
}

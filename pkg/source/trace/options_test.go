package trace_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// What a file does not tell of itself is assumed and noted, or told by options.
func TestReadWithOptions(t *testing.T) {
	nan := math.NaN()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	from := func(at string, step time.Duration, values ...float64) forecast.Series {
		start, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return forecast.Series{Start: start.UTC(), Step: step, Values: values}
	}
	const moved = " samples were moved to steps of 1m; each value is the mean of the samples that are closest to it"
	for _, c := range []struct {
		name, text string
		options    trace.Options
		want       forecast.Series
		note       string
	}{
		{
			"milliseconds", "t,value\n1760918400000,1\n1760918460000,2\n",
			trace.Options{},
			from("2025-10-20T00:00:00Z", time.Minute, 1, 2), "times are milliseconds",
		},
		{
			"no zone", "t,value\n2025-10-20 00:00,1\n2025-10-20 00:01,2\n",
			trace.Options{},
			from("2025-10-20T00:00:00Z", time.Minute, 1, 2), "times have no time zone and are read as UTC; set another time zone with --time-zone",
		},
		{
			"a unit", "t,value\n0,\n1,12 req/s\n2,3 req/s\n",
			trace.Options{},
			from("1970-01-01T00:00:00Z", time.Second, nan, 12, 3), "values are in req/s",
		},
		{
			"the hour that is repeated in autumn", "Time,value\n2025-10-26 01:30:00,1\n2025-10-26 02:00:00,2\n2025-10-26 02:30:00,3\n" +
				"2025-10-26 02:00:00,4\n2025-10-26 02:30:00,5\n2025-10-26 03:00:00,6\n",
			trace.Options{Zone: berlin},
			from("2025-10-25T23:30:00Z", 30*time.Minute, 1, 2, 3, 4, 5, 6), "",
		},
		{
			"jitter", "t,value\n59.9,1\n120.1,2\n179.8,3\n240,4\n",
			trace.Options{Resample: time.Minute},
			from("1970-01-01T00:01:00Z", time.Minute, 1, 2, 3, 4), "3 of 4" + moved,
		},
		{
			"irregular", "t,value\n0,1\n20,4\n40,NaN\n50,6\n60,8\n200,1\n",
			trace.Options{Resample: time.Minute},
			from("1970-01-01T00:00:00Z", time.Minute, 2.5, 7, nan, 1), "4 of 6" + moved,
		},
		{
			"Prometheus", `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"job":"x"},"values":[[1760918400,"1"],
				[1760918460.000,"NaN"],[1760918520,"2.5"]]}]}}`, trace.Options{}, from("2025-10-20T00:00:00Z", time.Minute, 1, nan, 2.5), "",
		},
		{
			"promtool", `[{"metric":{},"values":[[0,"1"],[60,"2"],[180,"3"]]}]`,
			trace.Options{},
			from("1970-01-01T00:00:00Z", time.Minute, 1, 2, nan, 3), "",
		},
	} {
		got, err := c.options.ReadColumn(strings.NewReader(c.text), "value")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Series, cmpopts.EquateNaNs()); diff != "" ||
			strings.Join(got.Notes, "\n") != c.note {
			t.Errorf("%s: notes %q, (-want +got)\n%s", c.name, got.Notes, diff)
		}
	}
	for _, c := range []struct {
		text, want string
		options    trace.Options
	}{
		{
			"t,value\n2026-03-29 01:30,1\n2026-03-29 02:30,2\n", "line 3, column 1: time \"2026-03-29 02:30\": this time does not exist in the time zone Europe/Berlin",
			trace.Options{Zone: berlin},
		},
		{"t,value\n0,1\n60,2\n", "--resample 10s is shorter than the step of the file: set --resample 1m", trace.Options{Resample: 10 * time.Second}},
		{"t,value\n0,1\n60,2\n", "--resample 1h leaves only 1 value", trace.Options{Resample: time.Hour}},
		{`{"data":{"result":[{"values":[[0,"1"]]},{"values":[[0,"1"]]}]}}`, "the response has 2 series; expected the response of /api/v1/query_range with one series, such as the result of sum(…)", trace.Options{}},
		{`{"data":{"result":[]}}`, "the response has 0 series", trace.Options{}},
		{`{"data":{"result":[{"value":[0,"1"]}]}}`, "the series has no list of values", trace.Options{}},
		{`{"status":"error","error":"parse error"}`, `the file has an error response of Prometheus: "parse error"`, trace.Options{}},
		{`{"panels":[]}`, "expected a response of Prometheus, VictoriaMetrics or CloudWatch", trace.Options{}},
		{`[{"values":[[0,"1"],[60,"many"]]}]`, `sample 2, column value: value "many"`, trace.Options{}},
		{`[{"values":[[0,"1"],7]}]`, "sample 2 is not a pair", trace.Options{}},
		{"{} =>\n1 @[0]\n", "add -o json", trace.Options{}},
	} {
		if _, err := c.options.ReadColumn(strings.NewReader(c.text), "value"); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

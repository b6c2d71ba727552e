package capacity_test

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/capacity"
)

// row is a line of a trace: when, the demand, the queue, and the ready replicas.
type row func(i int) string

// usual is a service that comes to its limit of 40 for each of its two replicas twice a day.
func usual(i int) (demand, queue float64) {
	demand = 60 + 40*math.Sin(float64(i)/115) + float64(i*7919%13)
	return demand, math.Max(0, demand-80)
}

// capacityPlayed is what the command says of a trace, as text and as JSON.
func capacityPlayed(t *testing.T, trace string) (text, asJSON string, err error) {
	t.Helper()
	run := func(flags ...string) (string, error) {
		var out strings.Builder
		cmd := capacity.New()
		cmd.SetArgs(append([]string{
			"--trace", "-", "--column", "demand", "--saturated-column", "queue", "--replicas-column", "ready",
			"--quiet",
		}, flags...))
		cmd.SetIn(strings.NewReader(trace))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		failed := cmd.ExecuteContext(t.Context())
		return out.String(), failed
	}
	text, err = run()
	asJSON, other := run("--json")
	if (err == nil) != (other == nil) {
		t.Errorf("as text %v, as JSON %v", err, other)
	}
	return text, asJSON, err
}

// noNumber are numbers that are none, as people would see them.
var noNumber = regexp.MustCompile(`(?i)\b(nan|inf|infinity)\b|[-−][0-9.]+ (requests|hours)|e\+[0-9]{2}`)

// A history that is at fault in some way is a clear error, or what is said of it is sane: a number in its order, or why there
// is none.
func TestFaultyHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	grid := func(step time.Duration, values func(i int) (demand, queue, ready string)) row {
		return func(i int) string {
			demand, queue, ready := values(i)
			return fmt.Sprintf("%d,%s,%s,%s\n", int64(i)*int64(step/time.Second), demand, queue, ready)
		}
	}
	always := func(demand, queue, ready string) func(int) (string, string, string) {
		return func(int) (string, string, string) { return demand, queue, ready }
	}
	scaled := func(factor float64) func(int) (string, string, string) {
		return func(i int) (string, string, string) {
			demand, queue := usual(i)
			return fmt.Sprint(demand * factor), fmt.Sprint(queue * factor), "2"
		}
	}
	const header = "t,demand,queue,ready\n"
	minutes := func(values func(int) (string, string, string)) row { return grid(time.Minute, values) }
	for _, c := range []struct {
		about string
		rows  int
		row   row
		// want is in the answer, or wrong in the error.
		want, wrong string
	}{
		{"nothing", 0, nil, "", "the file is empty"},
		{"one sample", 1, minutes(always("1", "0", "2")), "", "row"},
		{"two samples", 2, minutes(always("1", "0", "2")), "Not enough evidence", ""},
		{"all blank", 2000, minutes(always("", "", "")), "", "value"},
		{"all NaN", 2000, minutes(always("NaN", "NaN", "NaN")), "", "the history has no values"},
		{"all zero", 2000, minutes(always("0", "0", "0")), "never known at the same time", ""},
		{"no replicas", 2000, minutes(always("5", "1", "0")), "never known at the same time", ""},
		{"infinite", 2000, minutes(always("+Inf", "0", "2")), "", "Inf"},
		{"negative", 2000, minutes(always("-4", "0", "2")), "", "-4"},
		{"a negative queue", 2000, minutes(always("4", "-1", "2")), "", "-1"},
		{"constant, at rest", 2000, minutes(always("40", "0", "2")), "Not enough evidence", ""},
		{"constant, at the limit", 2000, minutes(always("40", "3", "2")), "Not enough evidence", ""},
		{"as it should be", 20_000, minutes(scaled(1)), "sustains", ""},
		{"15 digits", 20_000, minutes(scaled(1e12)), "sustains", ""},
		{"16 digits", 20_000, minutes(scaled(1e13)), "", "too large for demand, which is at most 1e+15"},
		{"tiny", 20_000, minutes(scaled(1e-9)), "sustains", ""},
		{"a step of a day", 2000, grid(24*time.Hour, scaled(1)), "", ""},
		{"a step of an hour", 2000, grid(time.Hour, scaled(1)), "", ""},
		{"a step of a second", 20_000, grid(time.Second, scaled(1)), "", ""},
		{"duplicates", 2000, func(i int) string { return grid(time.Minute, scaled(1))(i / 2) }, "", "line"},
		{"out of order", 2000, func(i int) string { return grid(time.Minute, scaled(1))(2000 - i) }, "", "line"},
		{"a gap of a century", 2000, func(i int) string {
			return grid(time.Minute, scaled(1))(i + i/1000*52_560_000)
		}, "", "remove the rows without a real time"},
		{"a gap of a month", 20_000, func(i int) string { return minutes(scaled(1))(i + i/10_000*43_200) }, "sustains", ""},
		{"every other sample is blank", 20_000, minutes(func(i int) (string, string, string) {
			demand, queue, ready := scaled(1)(i)
			return demand, []string{queue, ""}[i%2], ready
		}), "", ""},
		{"replicas that come and go at every step", 20_000, minutes(func(i int) (string, string, string) {
			demand, queue, _ := scaled(1)(i)
			return demand, queue, strconv.Itoa(1 + i%2)
		}), "never known at the same time", ""},
		{"parts of a replica", 20_000, minutes(func(i int) (string, string, string) {
			demand, queue, _ := scaled(1)(i)
			return demand, queue, "0.000000001"
		}), "", ""},
		{"one spike of 10^15", 20_000, minutes(func(i int) (string, string, string) {
			if i == 5000 {
				return "1e15", "1e15", "2"
			}
			return scaled(1)(i)
		}), "sustains", ""},
	} {
		t.Run(c.about, func(t *testing.T) {
			trace := strings.Builder{}
			if c.rows > 0 {
				trace.WriteString(header)
			}
			for i := range c.rows {
				trace.WriteString(c.row(i))
			}
			text, asJSON, err := capacityPlayed(t, trace.String())
			if err != nil {
				if c.wrong == "" || !strings.Contains(err.Error(), c.wrong) || len(err.Error()) > 400 {
					t.Errorf("error %v, want %q in it", err, c.wrong)
				}
				return
			}
			if c.wrong != "" || !strings.Contains(strings.Join(strings.Fields(text), " "), c.want) {
				t.Errorf("want %q or the error %q, got\n%s", c.want, c.wrong, text)
			}
			if m := noNumber.FindString(text); m != "" {
				t.Errorf("%q in\n%s", m, text)
			}
			if !json.Valid([]byte(asJSON)) {
				t.Errorf("no JSON: %s", asJSON)
			}
		})
	}
}

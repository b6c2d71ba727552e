package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

func text(t *testing.T, c *compare.Comparison, width int) string {
	t.Helper()
	return report.Text(c, width)
}

// asJSON is a comparison as JSON that is indented.
func asJSON(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var out, indented bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := errors.Join(encoder.Encode(report.JSON(c)), json.Indent(&indented, out.Bytes(), "", "  ")); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	return indented.String()
}

func asHTML(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var out strings.Builder
	if err := report.HTML(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// An objective by bad hours has a column of its own, which carries the marks; the JSON names the share that the objective limits.
func TestReportByBadHours(t *testing.T) {
	c := comparison()
	if got := text(
		t,
		c,
		120,
	); strings.Contains(got, "bad") ||
		!strings.Contains(asJSON(t, c), `"objectiveLimits": "lateFraction"`) {
		t.Error(got)
	}
	byBadHours(c)
	got := text(t, c, 120)
	for _, want := range []string{" 7.00%! ", "and the share of demand in bad hours (horizontal)", "! misses the objective: more than 1% in bad hours", "may arrive in bad hours (hours in which more than"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if page := asHTML(
		t,
		c,
	); !strings.Contains(page, "<dt>Bad hours</dt>") ||
		!strings.Contains(page, "share of demand in bad hours") {
		t.Error("the page does not say that the objective is by bad hours")
	}
	if got := asJSON(
		t,
		c,
	); !strings.Contains(got, `"objectiveLimits": "badHoursFraction"`) ||
		!strings.Contains(got, `"badHoursFraction": 0.07`) {
		t.Error(got)
	}
}

func TestTextFits(t *testing.T) {
	for _, width := range []int{80, 100, 120, 200} {
		for row := range strings.Lines(text(t, comparison(), width)) {
			if n := utf8.RuneCountInString(strings.TrimRight(row, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, row)
			}
		}
	}
	text(t, comparison(), -1)
}

// What is not known is a dash, and nothing at all draws no chart.
func TestTextOfLittle(t *testing.T) {
	nothing := &compare.Comparison{WarmPool: &compare.PoolResult{}}
	if told := text(t, nothing, 80); strings.Contains(told, "NaN") || strings.Contains(told, "late demand by policy") ||
		strings.Contains(told, "Warm pool") {
		t.Errorf("nothing is told as\n%s", told)
	}
	nan, c := math.NaN(), comparison()
	c.Policies = []compare.PolicyResult{
		{
			Name:     compare.HPA,
			Frontier: []compare.Point{{}},
			Timeline: []compare.Slot{{Demand: nan, Ready: nan, Paid: nan, Late: nan}},
		},
	}
	if told := text(t, c, 80); strings.Contains(told, "NaN") || strings.Contains(told, "Inf") {
		t.Errorf("no demand is told as\n%s", told)
	}
}

// JSON has no NaN: what there is no number of is null, and what there is none of is an empty list.
func TestJSONOfNoNumbers(t *testing.T) {
	nan := math.NaN()
	told := asJSON(t, &compare.Comparison{Policies: []compare.PolicyResult{{
		Name: compare.HPA, Target: math.Inf(1), Frontier: []compare.Point{{Setting: nan, RelativeCost: nan}},
	}}})
	for _, want := range []string{`"relativeCost": null`, `"target": null`, `"dollars": null`, `"setting": null`} {
		if !strings.Contains(told, want) {
			t.Errorf("no %s in\n%s", want, told)
		}
	}
	empty := asJSON(t, &compare.Comparison{})
	if !strings.Contains(empty, `"policies": []`) || !strings.Contains(empty, `"notes": []`) {
		t.Errorf("the lists are not empty in\n%s", empty)
	}
}

type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorOfTheWriter(t *testing.T) {
	if err := report.HTML(full{}, comparison()); !errors.Is(err, errFull) {
		t.Errorf("%v, want that the disk is full", err)
	}
}

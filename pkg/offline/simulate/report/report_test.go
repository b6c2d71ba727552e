package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

var update = flag.Bool("update", false, "write the reports of testdata anew")

// withAnswers is the comparison of testdata, with all that can be asked beside it: six policies on three days with bursts, of
// which the timelines show the worst hours. A maximum of 10 minutes stands in for forewarm, as only the telling is tested here.
func withAnswers(tb testing.TB) *compare.Comparison {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "comparison.json"))
	if err != nil {
		tb.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var c compare.Comparison
	if err := decoder.Decode(&c); err != nil {
		tb.Fatal(err)
	}
	return &c
}

// comparison is the same with nothing asked beside it.
func comparison(tb testing.TB) *compare.Comparison {
	tb.Helper()
	c := withAnswers(tb)
	c.Shapes, c.WhatIfs, c.WarmPool = nil, nil, nil
	return c
}

// disappointing is a comparison of which nothing can be said that one hopes for: interrupted, no price, no capacity, nothing
// saved, and nothing that meets the objective.
func disappointing(t *testing.T) *compare.Comparison {
	t.Helper()
	c := withAnswers(t)
	c.Partial, c.Assumptions.GPUPrice = true, 0
	c.Assumptions.CapacityAssumed, c.Assumptions.Capacity = true, c.Assumptions.Target
	for i := range c.Shapes {
		c.Shapes[i].MeetsObjective = false
	}
	return c
}

func text(t *testing.T, c *compare.Comparison, width int) string {
	t.Helper()
	var out strings.Builder
	if err := report.Text(&out, c, width); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// asJSON is a comparison as JSON that is indented.
func asJSON(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	var out, indented bytes.Buffer
	if err := errors.Join(report.JSON(&out, c), json.Indent(&indented, out.Bytes(), "", "  ")); err != nil {
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

// What is told of the comparison, with and without what can be asked beside it: read the difference before you write it anew
// (-update).
func TestReport(t *testing.T) {
	for file, told := range map[string]string{
		"plain.txt":         text(t, comparison(t), 120),
		"plain.json":        asJSON(t, comparison(t)),
		"answers.txt":       text(t, withAnswers(t), 90),
		"answers.json":      asJSON(t, withAnswers(t)),
		"answers.html":      asHTML(t, withAnswers(t)),
		"disappointing.txt": text(t, disappointing(t), 80),
	} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, []byte(told), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(told, "\n")); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
}

// An objective by bad hours has a column of its own, which carries the marks; the JSON names the share that the objective limits.
func TestReportByBadHours(t *testing.T) {
	c := comparison(t)
	if got := text(
		t,
		c,
		120,
	); strings.Contains(got, "bad") ||
		!strings.Contains(asJSON(t, c), `"objective_limits": "late_fraction"`) {
		t.Error(got)
	}
	c.Assumptions.BadHours = true
	for i := range c.Policies {
		c.Policies[i].Report.BadHours.Arrived, c.Policies[i].Report.BadHours.Bad = 1000, 70
		c.Policies[i].MeetsObjective = false
	}
	got := text(t, c, 120)
	for _, want := range []string{" 7.00%! ", "against the share of demand in bad hours (to the right)", "! misses the objective: more in bad hours than", "arrives in bad hours: UTC clock hours"} {
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
	); !strings.Contains(got, `"objective_limits": "bad_hours_fraction"`) ||
		!strings.Contains(got, `"bad_hours_fraction": 0.07`) {
		t.Error(got)
	}
}

func TestTextFits(t *testing.T) {
	for _, width := range []int{80, 100, 120, 200} {
		for row := range strings.Lines(text(t, comparison(t), width)) {
			if n := utf8.RuneCountInString(strings.TrimRight(row, "\n")); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, row)
			}
		}
	}
	text(t, comparison(t), -1)
}

// What is not known is a dash, and nothing at all draws no chart.
func TestTextOfLittle(t *testing.T) {
	nothing := &compare.Comparison{WarmPool: &compare.PoolResult{}}
	if told := text(t, nothing, 80); strings.Contains(told, "NaN") || strings.Contains(told, "late demand by policy") ||
		strings.Contains(told, "Warm pool") {
		t.Errorf("nothing is told as\n%s", told)
	}
	nan, c := math.NaN(), comparison(t)
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
	for _, want := range []string{`"relative_cost": null`, `"target": null`, `"dollars": null`, `"setting": null`} {
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
	c := comparison(t)
	for name, err := range map[string]error{
		"text": report.Text(full{}, c, 80), "JSON": report.JSON(full{}, c), "HTML": report.HTML(full{}, c),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want that the disk is full", name, err)
		}
	}
}

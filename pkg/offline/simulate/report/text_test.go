package report_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

// hostile is a name that would drive a terminal or a page.
const hostile = "</title></svg><script>alert(1)</script>\x1b[2J\u202e\"'"

func text(t *testing.T, c *compare.Comparison, width int) string {
	t.Helper()
	var out strings.Builder
	if err := report.Text(&out, c, width); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// line is the table's line of a policy, in fields.
func line(t *testing.T, told, policy string) []string {
	t.Helper()
	_, table, _ := strings.Cut(told, "\npolicy")
	for row := range strings.Lines(table) {
		if fields := strings.Fields(row); len(fields) > 1 && fields[0] == policy {
			return fields[1:]
		}
	}
	t.Fatalf("no line of %s in\n%s", policy, told)
	return nil
}

func TestTextBeginsWithWhatItRestsOn(t *testing.T) {
	c := comparison(t)
	first, rest, _ := strings.Cut(text(t, c, 120), "\n")
	if first != "A replica sustains 1000 (given). The autoscaler's target is 700." {
		t.Errorf("the first line is %q", first)
	}
	if !strings.HasPrefix(rest, "\n"+c.Verdict[:50]) {
		t.Errorf("after the assumption comes\n%.200s\nand not the verdict", rest)
	}
	c.Assumptions.CapacityAssumed, c.Assumptions.Capacity = true, c.Assumptions.Target
	first, _, _ = strings.Cut(text(t, c, 120), "\n")
	if !strings.HasPrefix(first,
		"No replica capacity was given. A replica is assumed to sustain 700, the autoscaler's target") {
		t.Errorf("a capacity that was assumed is told as %q", first)
	}
}

func TestTextHasTheNumbers(t *testing.T) {
	c := comparison(t)
	told := text(t, c, 120)
	for i := range c.Policies {
		p := &c.Policies[i]
		name, late := p.Name, fmt.Sprintf("%.2f%%", 100*p.Report.LateShare())
		if p.Hindsight {
			name += "¹"
		}
		if p.Report.Late == 0 {
			late = "0%"
		}
		if !p.MeetsObjective {
			late += "!"
		}
		got := line(t, told, name)
		if got[0] != fmt.Sprint(p.Target) || got[3] != late {
			t.Errorf("%s: target %s and late %s, want %v and %s", p.Name, got[0], got[3], p.Target, late)
		}
		if cost := fmt.Sprintf("%.2f", p.Report.RelativeCost()); got[len(got)-1] != cost {
			t.Errorf("%s: cost %s, want %s", p.Name, got[len(got)-1], cost)
		}
	}
	if best := line(t, told, "hpa-best-target¹"); best[7] != "0.7" || best[8] != "2.5" {
		t.Errorf("42 s early and 150 s late are told as %s and %s minutes", best[7], best[8])
	}
}

func TestTextHasDollarsOnlyWithAPrice(t *testing.T) {
	c := comparison(t)
	r := &c.Policies[0].Report
	if got, want := line(t, text(t, c, 120), "hpa")[2], fmt.Sprintf("%.0f",
		r.ReplicaHours*2*3.06); plainNumber(got) != want {
		t.Errorf("the dollars are %s, want %s", got, want)
	}
	c.Assumptions.GPUPrice = 0
	if told := text(t, c, 120); strings.Contains(told, "$") {
		t.Errorf("dollars without a price:\n%s", told)
	}
}

// plainNumber takes the commas out of a number.
func plainNumber(amount string) string { return strings.ReplaceAll(amount, ",", "") }

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

func TestTextCharts(t *testing.T) {
	told := text(t, comparison(t), 80)
	_, over, _ := strings.Cut(told, "Demand, and late demand by policy, Tue 3 Nov 00:00 to Fri 6 Nov 00:00 UTC\n")
	_, hpa, _ := strings.Cut(over, "\nhpa ")
	hpa, _, _ = strings.Cut(hpa, "\n")
	if !strings.ContainsRune(hpa, '█') || !strings.ContainsRune(hpa, '·') {
		t.Errorf("what was late under hpa, the worst, is drawn as %q", hpa)
	}
	_, oracle, _ := strings.Cut(over, "\noracle ")
	oracle, _, _ = strings.Cut(oracle, "\n")
	if strings.Trim(oracle, " ·") != "" {
		t.Errorf("nothing was late under the oracle, and yet it is drawn as %q", oracle)
	}
	_, plane, _ := strings.Cut(told, "Relative cost (upwards)")
	for _, letter := range []string{"H", "B", "M", "O", "F", "*", "┊"} {
		if !strings.Contains(plane, letter) {
			t.Errorf("no %s in\n%s", letter, plane)
		}
	}
}

// What is not known is a dash, and nothing at all draws no chart.
func TestTextOfLittle(t *testing.T) {
	nothing := &compare.Comparison{}
	if told := text(t, nothing, 80); strings.Contains(told, "NaN") || strings.Contains(told, "late demand by policy") {
		t.Errorf("nothing is told as\n%s", told)
	}
	c := comparison(t)
	c.Policies = []compare.PolicyResult{{Name: compare.HPA, Report: simulate.Report{}, Frontier: []compare.Point{{}}}}
	c.Policies[0].Timeline = []compare.Slot{{Demand: math.NaN(), Ready: math.NaN(), Paid: math.NaN(), Late: math.NaN()}}
	told := text(t, c, 80)
	if strings.Contains(told, "NaN") || strings.Contains(told, "Inf") {
		t.Errorf("no demand is told as\n%s", told)
	}
	c.Partial = true
	if !strings.Contains(text(t, c, 80), "Interrupted") {
		t.Error("an interruption is not told")
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

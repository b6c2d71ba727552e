package inspect_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/margin"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// reported is a Forecast whose objective fares as the report says.
func reported(r *outcome.Report) *snapshot.Entry {
	e := snapshottest.Outcome(snapshottest.Key("llama"))
	e.Outcome = r
	return e
}

func TestOutlookTellsTheOutcome(t *testing.T) {
	o := inspect.Outlook(reported(snapshottest.Report(outcome.Met)), snapshottest.Now()).Status.Outcome
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back v1alpha1.Outcome
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, &back); diff != "" {
		t.Errorf("JSON loses something:\n%s", diff)
	}
	for _, c := range []struct {
		name string
		got  *float64
		want float64
	}{
		{"late", o.Served.Late, 1.08 / 174},
		{"cost", o.Served.Cost, 296. / 174},
		{"late on the observed", o.Observed.Late, 6.79 / 174},
		{"saved", o.Saved.ReplicaHours, 35},
		{"spared", o.Saved.Late, 5.71 / 174},
		{"k", o.K, 1.3},
		{"expected", o.Expected, 0.01},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if len(o.Candidates) != 4 || !o.Candidates[0].Serves || o.Candidates[3].Cost != nil || len(o.Scalings) != 1 {
		t.Errorf("candidates %+v, scalings %+v", o.Candidates, o.Scalings)
	}
}

func TestSummary(t *testing.T) {
	week := func(change func(r *outcome.Report)) *outcome.Report {
		r := snapshottest.Report(outcome.Met)
		change(r)
		return r
	}
	const last = " The last value with a margin of its own would not keep the objective: 2.1% late at 2.74 ×."
	const played = "A shadow of HorizontalPodAutoscaler/llama played the last "
	for _, c := range []struct {
		name   string
		report *outcome.Report
		mode   decide.Mode
		want   string
	}{
		{
			"less of both", week(func(*outcome.Report) {}), decide.Floor,
			played + "7 days of demand: on forewarm's value 0.62% of it was late at 1.7 × the demand's own replica-hours, " +
				"on the observed demand, without headroom, 3.9% at 1.9 ×. Forewarm's value saves 35 replica-hours (11%) and spares 3.3% of the " +
				"demand from being late." + last,
		},
		{
			"in shadow mode", week(func(*outcome.Report) {}), decide.Shadow,
			played + "7 days of demand: on forewarm's value 0.62% of it was late at 1.7 × the demand's own replica-hours, " +
				"on the observed demand, without headroom, 3.9% at 1.9 ×. Forewarm only watches (serve: Shadow); its value would have saved 35 " +
				"replica-hours (11%) and spared 3.3% of the demand from being late." + last,
		},
		{
			"more of both", week(func(r *outcome.Report) { r.Served, r.Observed, r.Over = r.Observed, r.Served, 30*time.Hour }),
			decide.Floor,
			played + "30 hours of demand: on forewarm's value 3.9% of it was late at 1.9 × the demand's own replica-hours, " +
				"on the observed demand, without headroom, 0.62% at 1.7 ×. Forewarm's value costs 35 replica-hours more (12%) and makes 3.3% " +
				"more of the demand late." + last,
		},
		{
			"as much of both", week(func(r *outcome.Report) { r.Served, r.Over = r.Observed, time.Hour }), decide.Floor,
			played + "60 minutes of demand: on forewarm's value 3.9% of it was late at 1.9 × the demand's own " +
				"replica-hours, on the observed demand, without headroom, 3.9% at 1.9 ×. Forewarm's value costs as many replica-hours and leaves " +
				"as much of the demand late." + last,
		},
		{
			"no demand", week(func(r *outcome.Report) { r.Served, r.Observed = outcome.Account{Paid: 168}, outcome.Account{} }),
			decide.Floor, "No demand came in the last 7 days: there is nothing to account for.",
		},
		{"nothing yet", week(func(r *outcome.Report) { r.Over = 0 }), decide.Floor, "No demand was played yet."},
	} {
		e := reported(c.report)
		e.Policy.Mode = c.mode
		o := inspect.Outlook(e, snapshottest.Now()).Status.Outcome
		if diff := cmp.Diff(c.want, o.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What a rule without a forecast would take at the same lateness is said where it is known.
func TestSummaryComparesWithTheLastValue(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(last, serves *outcome.Candidate)
		want   string
	}{
		{
			"dearer", func(last, _ *outcome.Candidate) { last.Meets, last.Cost = true, 1.9 },
			"To keep the objective, the last value with a margin of its own would take 1.9 ×; what serves takes 1.7 ×.",
		},
		{"serves itself", func(last, serves *outcome.Candidate) { last.Serves, serves.Serves = true, false }, ""},
		{"not known", func(last, _ *outcome.Candidate) { last.Cost = math.NaN() }, ""},
		{"nothing keeps it", func(_, serves *outcome.Candidate) { serves.Meets = false }, ""},
	} {
		r := snapshottest.Report(outcome.Met)
		c.change(&r.Candidates[2], &r.Candidates[0])
		got := inspect.Outlook(reported(r), snapshottest.Now()).Status.Outcome.Summary
		if c.want == "" && strings.Contains(got, "last value") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q at its end", c.name, got, c.want)
		}
	}
}

func TestPageTellsHowTheObjectiveFares(t *testing.T) {
	for verdict, want := range map[outcome.Verdict][]string{
		outcome.Met: {
			"The objective", ">Met<", "at most, waits longer than 30s", "0.62%", "1.7 × those of the demand",
			"k = 1.3 is expected to leave 1% late at 1.7 × the demand&#39;s own replica-hours; 1.2 would leave 1.1% at " +
				"1.68 ×; 1.4 would leave 0.87% at 1.72 ×.",
			"that of last-season was 1.81", "HorizontalPodAutoscaler/llama", "1 to 12", `averageValue: "40"`,
			"maxReplicas: 12", "does not meet the objective",
		},
		outcome.Learning:       {"Not known yet: too little", "that of other workloads, k = 1.9", "the last 5 hours"},
		outcome.AtMaxReplicas:  {"Not met: the autoscaler&#39;s maxReplicas is too low.", "took 16"},
		outcome.FasterThanLead: {"Not met: the demand rises faster than replicas start.", "(5m0s)"},
		outcome.Bounded:        {"Not known now: history does not justify the value that it takes.", "history justifies no more"},
		"Unheard":              {"Not met: Unheard."},
	} {
		board := snapshottest.Board(reported(snapshottest.Report(verdict)))
		page := browse(t, board, "llama", "page").Body.String()
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page does not say %q", verdict, text)
			}
		}
		if strings.Contains(page, "Uncalibrated") {
			t.Errorf("%s: the page speaks of what is not so", verdict)
		}
	}
}

// A cost ratio is told as what it is everywhere, and no share is: none was asked for.
func TestACostRatioIsTold(t *testing.T) {
	e := snapshottest.Priced(snapshottest.Key("llama"))
	status := inspect.Outlook(e, snapshottest.Now()).Status
	o := status.Outcome
	for name, got := range map[string]*float64{"the outlook": status.CostRatio, "its outcome": o.CostRatio} {
		if got == nil || *got != 20 {
			t.Errorf("the cost ratio of %s is %v, want 20", name, got)
		}
	}
	if status.Late != nil || status.Quantile != nil || o.Late != nil {
		t.Errorf("beside it %v, %v and %v are asked", status.Late, status.Quantile, o.Late)
	}
	const last = " At that cost ratio the last value with a margin of its own would leave 2.1% late at 2.74 ×; what serves " +
		"leaves 1% at 1.7 ×."
	if !strings.HasSuffix(o.Summary, last) {
		t.Errorf("summary %q", o.Summary)
	}
	board := snapshottest.Board(e)
	page := browse(t, board, "llama", "page").Body.String()
	for _, text := range []string{
		"the cheapest where late demand costs 20× an idle replica", "costs as much as 20 idle ones", ">20×<",
		"an idle replica&#39;s cost, where demand waits longer than 30s", "with 2.1% late, with a margin of its own",
		"not known yet",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	for _, text := range []string{">0%<", "NaN", "at most", "keep the objective", "meet the objective"} {
		if strings.Contains(page, text) {
			t.Errorf("the page says %q", text)
		}
	}
	plot := browse(t, board, "llama", "plot").Body.String()
	if !strings.Contains(plot, "late costs 20× an idle replica over the next 6m15s") {
		t.Error("the plot's heading does not say it")
	}
	s := outlooks(t, board)
	table, err := s.ConvertToTable(t.Context(), list(t, s, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cells := table.Rows[0].Cells; cells[3] != "20×" {
		t.Errorf("cells %v, want 20× asked", cells)
	}
}

func TestPageSaysWhyNothingCalibratesTheObjective(t *testing.T) {
	e := reported(nil)
	e.Conditions = append(e.Conditions, snapshot.Condition{
		Type: snapshot.ConditionUncalibrated, True: true, Reason: "FixedMargin", Message: "set spec.scaling.target",
	})
	page := browse(t, snapshottest.Board(e), "llama", "page").Body.String()
	if n := strings.Count(page, "set spec.scaling.target"); n != 2 || !strings.Contains(page, "The objective") {
		t.Errorf("the panel and the conditions should both say what to do, %d do", n)
	}
	quantile := browse(t, everyState(), "ready", "page").Body.String()
	if strings.Contains(quantile, "The objective") {
		t.Error("a quantile has no objective")
	}
}

// A report of anything: markup for names, and every number not one.
func TestHostileReports(t *testing.T) {
	const attack = `</p><script>alert(1)</script>` + "\x00\u202e"
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300} {
		r := snapshottest.Report(outcome.AtMaxReplicas)
		r.Verdict, r.Choice.Name, r.Choice.Before = attack, attack, attack
		account := outcome.Account{Arrived: number, Late: number, Paid: number}
		r.Served, r.Observed = account, outcome.Account{Arrived: 1, Late: number, Paid: number}
		s := &r.Scalings[0]
		s.By, s.Target, s.K, s.Expected = attack, number, number, number
		s.Curve.Points = []margin.Point{{K: number, Late: 0.1, Cost: 1}, {K: 1, Late: number, Cost: number}}
		for i := range r.Candidates {
			c := &r.Candidates[i]
			c.Name, c.K, c.Late, c.Cost = attack, number, number, number
		}
		e := reported(r)
		o := inspect.Outlook(e, snapshottest.Now())
		if _, err := json.Marshal(o); err != nil {
			t.Errorf("%v: %v", number, err)
		}
		page := browse(t, snapshottest.Board(e), "llama", "page").Body.String()
		if strings.Contains(page, "<script") || !strings.Contains(page, "</html>") {
			t.Errorf("%v: the page holds markup, or is cut short", number)
		}
		for _, bad := range []string{"NaN", "+Inf", "-Inf"} {
			if strings.Contains(page, bad) || strings.Contains(o.Status.Outcome.Summary, bad) {
				t.Errorf("%v: the page says %s", number, bad)
			}
		}
	}
}

func TestTableMarksWhatIsMissed(t *testing.T) {
	s := outlooks(t, snapshottest.Board(reported(snapshottest.Report(outcome.FasterThanLead))))
	table, err := s.ConvertToTable(t.Context(), list(t, s, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	missed := list(t, s, &internalversion.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{v1alpha1.LabelObjective: "FasterThanLead"}),
	})
	if len(missed.Items) != 1 {
		t.Errorf("%d are found by their verdict, want 1", len(missed.Items))
	}
	if cells := table.Rows[0].Cells; cells[4] != "1.8%!" || cells[12] != "6.5" {
		t.Errorf("cells %v, want 1.8%%! late with k = 6.5", cells)
	}
}

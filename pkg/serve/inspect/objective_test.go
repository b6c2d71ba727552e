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
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// withReport is a Forecast whose objective fares as the report says.
func withReport(r *objective.Report) *snapshot.ForecastSnapshot {
	e := snapshottest.WithObjective(snapshottest.Key("llama"))
	e.Objective = r
	return e
}

func TestOutlookReportsTheObjective(t *testing.T) {
	status := inspect.Outlook(withReport(snapshottest.ObjectiveReport(objective.Met)), snapshottest.Now()).Status
	if status.Late == nil || *status.Late != 0.01 || status.Quantile != nil {
		t.Errorf("late %v, quantile %v; want 0.01 and none", status.Late, status.Quantile)
	}
	o := status.Objective
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var back v1alpha1.Objective
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
		{"cost", o.Served.RelativeCost, 296. / 174},
		{"late before", o.Before.Late, 6.79 / 174},
		{"cost in hindsight", o.Hindsight.RelativeCost, 352. / 174},
		{"saved", o.Saved.ReplicaHours, 35},
		{"spared", o.Saved.Late, 5.71 / 174},
		{"k", o.Headroom, 1.3},
		{"expected", o.ExpectedLate, 0.01},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if len(o.Candidates) != 4 || !o.Candidates[0].Selected || o.Candidates[3].RelativeCost != nil ||
		len(o.Autoscalers) != 1 {
		t.Errorf("candidates %+v, scalings %+v", o.Candidates, o.Autoscalers)
	}
}

// An objective by bad hours is told apart from one of late demand, in the JSON by the field, on the page and in lists by the words.
func TestAnObjectiveByBadHours(t *testing.T) {
	e := snapshottest.WithBadHours(snapshottest.Key("llama"))
	e.Objective.Candidates[2].Selected, e.Objective.Candidates[0].MeetsObjective = false, true
	status := inspect.Outlook(e, snapshottest.Now()).Status
	for name, got := range map[string][2]*float64{
		"status":    {status.BadHours, status.Late},
		"objective": {status.Objective.BadHours, status.Objective.Late},
	} {
		if got[0] == nil || *got[0] != 0.01 || got[1] != nil {
			t.Errorf("%s: bad hours %v, late %v; want 0.01 and none", name, got[0], got[1])
		}
	}
	if status.Objective.Budget == nil || len(status.Objective.Autoscalers[0].Curve) == 0 {
		t.Errorf("no budget or no curve: %+v", status.Objective)
	}
	late := inspect.Outlook(snapshottest.WithObjective(snapshottest.Key("llama")), snapshottest.Now()).Status
	if late.BadHours != nil || late.Objective.BadHours != nil {
		t.Errorf("late demand has bad hours %v, %v", late.BadHours, late.Objective.BadHours)
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(
		t,
		page,
		"at most 1% in bad hours",
		"at most 1% of the demand may arrive in bad hours (hours in which more than a tenth",
		"With headroom 1.3, 1% of the demand is expected to be in bad hours, at",
		"Expected in bad hours",
		"1% of the demand is expected to be in bad hours",
		"Without a forecast (the last value with its own headroom), the objective would be missed: 2.1% of the demand would be in bad hours at a relative cost of 2.74.",
	)
	lacks(t, page, "Expected late", "expected to be late")
	says(
		t,
		page,
		"<dt>Bad hours</dt>",
		"replica-hours that may be in bad hours in 14 days",
		"than the previous HPA, with 2 bad hours instead of",
		`<td class="k">Forewarm</td><td data-label="Bad hours" class="n">2 (0.62% of the demand)</td>`,
		"of 336 hours, with 0.62% of the demand; Forewarm replayed 96 hours in which it did not serve",
		"07:00 to 08:00 UTC (43% late)</li>",
		"(18% late, replayed)</li>",
		`<span class="state fair">Met</span>`,
	)
	// What the objective allows, by the demand of a busy hour in the seven days that are known.
	for busy, want := range map[float64]string{
		.0062: "about 3</dd><dd class=\"note\">busy hours in 14 days, with 0.31% of the demand each",
		.014:  "about 1</dd><dd class=\"note\">busy hour in 14 days, with 0.7% of the demand each",
		.03:   "no busy hour</dd><dd class=\"note\">in 14 days, with 1.5% of the demand each; one bad busy hour overspends the budget",
	} {
		e.Objective.Bad.Busy = busy
		says(t, browse(t, snapshottest.Store(e), "llama", "page").Body.String(), want)
	}
	if h := status.Objective.Hours; h.Bad != 2 || h.Judged != 336 || h.Served != 240 || len(h.Named) != 2 ||
		h.Named[1].Late != .43 {
		t.Errorf("hours %+v", h)
	}
}

// The page and the outlook have the measured lateness alongside the simulated one; a number that is none is left out.
func TestMeasuredIsBesideSimulated(t *testing.T) {
	r := snapshottest.ObjectiveReport(objective.Met)
	r.Measured = &objective.Measured{Late: 0.029, Known: 72 * time.Hour}
	e := withReport(r)
	got := inspect.Outlook(e, snapshottest.Now()).Status.Objective
	if m := got.Measured; m == nil || m.Late != 0.029 || m.Known.Duration != 72*time.Hour {
		t.Errorf("%+v", m)
	}
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	says(
		t,
		page,
		"late for 0.62% of the demand",
		"According to objective.measured, 2.9% of the demand was late.",
		"2.9% measured over 3 days",
		`Measured, not simulated</td><td data-label="Bad hours" class="n">-</td><td data-label="Late" class="n minor">2.9%`,
	)
	e.Settings.Mode = decide.Shadow
	got = inspect.Outlook(e, snapshottest.Now()).Status.Objective
	if !strings.Contains(
		got.Comparison.Details,
		"According to objective.measured, 2.9% of the demand was late without Forewarm.",
	) {
		t.Errorf("in shadow mode %q", got.Comparison.Details)
	}
	r.Measured.Late = math.NaN()
	if got = inspect.Outlook(withReport(r), snapshottest.Now()).Status.Objective; got.Measured != nil {
		t.Errorf("%+v", got.Measured)
	}
}

func TestSummary(t *testing.T) {
	week := func(change func(r *objective.Report)) *objective.Report {
		r := snapshottest.ObjectiveReport(objective.Met)
		change(r)
		return r
	}
	const last = " Without a forecast (the last value with its own headroom), the objective would be missed: 2.1% of the demand would be " +
		"late at a relative cost of 2.74."
	const simulated = "In a simulation of HorizontalPodAutoscaler/llama, Forewarm "
	for _, c := range []struct {
		name   string
		report *objective.Report
		mode   decide.Mode
		want   string
	}{
		{
			"less of both", week(func(*objective.Report) {}), decide.Floor,
			simulated + "uses 35 fewer replica-hours (11%) than the previous HPA, and 3.3% less of the demand is late." + last,
		},
		{
			"in shadow mode", week(func(*objective.Report) {}), decide.Shadow,
			simulated + "would have used 35 fewer replica-hours (11%) than the previous HPA, and 3.3% less of the demand would have been " +
				"late. Forewarm does not serve this value (serve: Shadow)." + last,
		},
		{
			"more of both", week(func(r *objective.Report) { r.Served, r.Before.Account = r.Before.Account, r.Served }), decide.Floor,
			simulated + "uses 35 more replica-hours (12%) than the previous HPA, and 3.3% more of the demand is late." + last,
		},
		{
			"as much of both", week(func(r *objective.Report) { r.Served = r.Before.Account }), decide.Floor,
			simulated + "uses no more replica-hours than the previous HPA, and as much of the demand is late." + last,
		},
		{
			"no demand", week(func(r *objective.Report) {
				r.Served, r.Before.Account = objective.Account{ReplicaHours: 168}, objective.Account{}
			}),
			decide.Floor, "There was no demand in the last 7 days.",
		},
		{"nothing yet", week(func(r *objective.Report) { r.Period = 0 }), decide.Floor, "No demand has been simulated yet."},
	} {
		e := withReport(c.report)
		e.Settings.Mode = c.mode
		o := inspect.Outlook(e, snapshottest.Now()).Status.Objective
		if diff := cmp.Diff(c.want, o.Summary); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// The summary compares with the last value under the same objective, if that is known.
func TestSummaryComparesWithTheLastValue(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(last, serves *objective.Candidate)
		want   string
	}{
		{
			"more expensive", func(last, _ *objective.Candidate) { last.MeetsObjective, last.RelativeCost = true, 1.9 },
			"Without a forecast (the last value with its own headroom), the same objective would need a relative cost of 1.9 " +
				"instead of 1.7.",
		},
		{"serves itself", func(last, serves *objective.Candidate) { last.Selected, serves.Selected = true, false }, ""},
		{"not known", func(last, _ *objective.Candidate) { last.RelativeCost = math.NaN() }, ""},
		{"nothing keeps it", func(_, serves *objective.Candidate) { serves.MeetsObjective = false }, ""},
	} {
		r := snapshottest.ObjectiveReport(objective.Met)
		c.change(&r.Candidates[2], &r.Candidates[0])
		got := inspect.Outlook(withReport(r), snapshottest.Now()).Status.Objective.Summary
		if c.want == "" && strings.Contains(got, "last value") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q at its end", c.name, got, c.want)
		}
	}
}

// The example HPA has room above what the demand took, where no autoscaler says how many replicas there may be.
func TestTheExampleHasRoom(t *testing.T) {
	r := snapshottest.ObjectiveReport(objective.Met)
	r.Autoscalers[0].Min, r.Autoscalers[0].Max = 1, 1_000_000
	r.Replay.Intervals[1].Forewarm.Ready = 17
	page := browse(t, snapshottest.Store(withReport(r)), "llama", "page").Body.String()
	says(t, page, "maxReplicas: 34  # highest number of replicas so far: 17")
}

func TestPageReportsTheObjective(t *testing.T) {
	for verdict, want := range map[objective.Verdict][]string{
		objective.Met: {
			"<h2>Objective", ">Met<", "at most 1% of the demand may wait longer than 30s", "0.62%", "relative cost 1.7",
			"With headroom 1.3, 1% of the demand is expected to be late, at a relative cost of 1.7. With headroom 1.2, this " +
				"share would be 1.1% at a relative cost of 1.68. With headroom 1.4, this share would be 0.87% at a relative cost of 1.72.",
			"it had a lower relative cost than last-season (1.7 instead of 1.81)", "HorizontalPodAutoscaler/llama", "1 to 12", `averageValue: "40"`,
			"maxReplicas: 12", "misses the objective",
		},
		objective.Learning:       {"Not known yet: the history of this workload is too short.", "it uses headroom 1.9, which is learned from other workloads", "the last 5 hours"},
		objective.AtMaxReplicas:  {"Not met: the autoscaler&#39;s maxReplicas is too low.", "needed 16"},
		objective.FasterThanLead: {"Not met: the demand rises faster than replicas start.", "(the lead time is 5m0s)"},
		objective.Bounded:        {"Not known now: the objective needs a higher value", "the history does not justify more"},
		"Unheard":                {"Not met: Unheard."},
	} {
		snapshots := snapshottest.Store(withReport(snapshottest.ObjectiveReport(verdict)))
		page := browse(t, snapshots, "llama", "page").Body.String()
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

// A cost ratio is reported everywhere, and no share of late demand: there is none in the objective.
func TestPageReportsTheCostRatio(t *testing.T) {
	e := snapshottest.WithCostRatio(snapshottest.Key("llama"))
	status := inspect.Outlook(e, snapshottest.Now()).Status
	o := status.Objective
	for name, got := range map[string]*float64{"the outlook": status.CostRatio, "its outcome": o.CostRatio} {
		if got == nil || *got != 20 {
			t.Errorf("the cost ratio of %s is %v, want 20", name, got)
		}
	}
	if status.Late != nil || status.Quantile != nil || o.Late != nil {
		t.Errorf("alongside it %v, %v and %v are asked", status.Late, status.Quantile, o.Late)
	}
	const last = " Without a forecast (the last value with its own headroom), 2.1% of the demand would be late at a relative " +
		"cost of 2.74. With the selected candidate, 1% is expected to be late at a relative cost of 1.7."
	if !strings.HasSuffix(o.Summary, last) {
		t.Errorf("summary %q", o.Summary)
	}
	snapshots := snapshottest.Store(e)
	page := browse(t, snapshots, "llama", "page").Body.String()
	says(
		t,
		page,
		"lowest cost if late demand costs 20× an idle replica",
		"costs as much as 20 idle replica-hours",
		">late demand costs 20×<",
		"a replica-hour of demand that waits longer than 30s costs as much as 20 idle replica-hours",
		"relative cost with its own headroom, 2.1% late",
		"not known yet",
	)
	lacks(t, page, ">0%<", "NaN", "at most", "keep the objective", "meet the objective")
	plot := browse(t, snapshots, "llama", "plot").Body.String()
	says(t, plot, "late demand costs 20× over the next 6m15s")
	s := outlooks(t, snapshots)
	table, err := s.ConvertToTable(t.Context(), list(t, s, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cells := table.Rows[0].Cells; cells[3] != "late demand costs 20×" {
		t.Errorf("cells %v, want 20× asked", cells)
	}
}

func TestPageReportsWhyTheObjectiveIsUncalibrated(t *testing.T) {
	e := withReport(nil)
	e.Conditions = append(e.Conditions, snapshot.Condition{
		Type: snapshot.ConditionUncalibrated, True: true, Reason: "FixedMargin", Message: "set spec.scaling.target",
	})
	page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
	if n := strings.Count(page, "set spec.scaling.target"); n != 2 || !strings.Contains(page, "<h2>Objective") {
		t.Errorf("the panel and the conditions should both have the advice, %d do", n)
	}
	quantile := browse(t, everyState(), "ready", "page").Body.String()
	lacks(t, quantile, "The objective")
}

// A report of anything: markup for names, and every number not one.
func TestHostileReports(t *testing.T) {
	const attack = `</p><script>alert(1)</script>` + "\x00\u202e"
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300} {
		r := snapshottest.ObjectiveReport(objective.AtMaxReplicas)
		r.Verdict, r.Selection.Selected, r.Selection.Previous = attack, attack, attack
		account := objective.Account{Arrived: number, Late: number, ReplicaHours: number}
		r.Served, r.Observed = account, objective.Account{Arrived: 1, Late: number, ReplicaHours: number}
		s := &r.Autoscalers[0]
		s.Name, s.Target, s.Headroom, s.ExpectedLate = attack, number, number, number
		s.Curve.Points = []objective.Point{
			{Multiplier: number, Late: 0.1, RelativeCost: 1},
			{Multiplier: 1, Late: number, RelativeCost: number},
		}
		for i := range r.Candidates {
			c := &r.Candidates[i]
			c.Name, c.Headroom, c.Late, c.RelativeCost = attack, number, number, number
		}
		e := withReport(r)
		o := inspect.Outlook(e, snapshottest.Now())
		if _, err := json.Marshal(o); err != nil {
			t.Errorf("%v: %v", number, err)
		}
		page := browse(t, snapshottest.Store(e), "llama", "page").Body.String()
		if strings.Contains(page, "<script") || !strings.Contains(page, "</html>") {
			t.Errorf("%v: the page holds markup, or is cut short", number)
		}
		for _, bad := range []string{"NaN", "+Inf", "-Inf"} {
			if strings.Contains(page, bad) || strings.Contains(o.Status.Objective.Summary, bad) {
				t.Errorf("%v: the page says %s", number, bad)
			}
		}
	}
}

func TestTableMarksMissedObjectives(t *testing.T) {
	s := outlooks(t, snapshottest.Store(withReport(snapshottest.ObjectiveReport(objective.FasterThanLead))))
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
	if cells := table.Rows[0].Cells; cells[4] != "1.8%!" || cells[13] != "6.5" {
		t.Errorf("cells %v, want 1.8%%! late with k = 6.5", cells)
	}
}

// TestAPageWithoutSamples: a Forecast that has no history yet shows why, and no empty charts.
func TestAPageWithoutSamples(t *testing.T) {
	page := browse(
		t,
		snapshottest.Store(snapshottest.Pending(snapshottest.Key("llama"))),
		"llama",
		"page",
	).Body.String()
	says(t, page, "Why there is no value yet")
	lacks(t, page, "Past forecasts and observed demand", "Current demand and forecast")
	ready := browse(t, snapshottest.Store(snapshottest.Ready(snapshottest.Key("llama"))), "llama", "page").Body.String()
	says(t, ready, "Current demand and forecast")
	lacks(t, ready, "Why there is no value yet")
}

package forecasts_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

// reported is an entry whose objective fares as the report says.
func reported(at time.Time, r *objective.Report) *snapshot.ForecastSnapshot {
	e := entry("a", at)
	e.Objective = r
	e.Conditions[1] = snapshot.Condition{
		Type:    snapshot.ConditionObjective,
		True:    r.Verdict == objective.Met,
		Reason:  string(r.Verdict),
		Message: r.Message(),
	}
	return e
}

func TestObjectiveIsForPeople(t *testing.T) {
	want := &v1alpha1.ObjectiveStatus{
		Asked: "1% late over 7 days, wait 30s",
		Headline: "Forewarm is late for 0.62% of the demand instead of 3.9% and uses 11% fewer replica-hours than an HPA with a target " +
			"of 70% of a replica's capacity.",
		Verdict:         "Met",
		Late:            "0.62%",
		BudgetSpent:     "62%",
		BurnRate:        "0.3",
		RelativeCost:    "1.7",
		Headroom:        "1.3",
		Candidate:       "regression",
		CandidateReason: "regression is selected: it had a lower relative cost than last-season (1.7 instead of 1.81) for 24 hours in a row",
	}
	of := func(r *objective.Report) v1alpha1.ForecastStatus {
		return forecasts.StatusOf(reported(noon(), r), &v1alpha1.ForecastStatus{}, noon())
	}
	met := of(snapshottest.ObjectiveReport(objective.Met))
	if diff := cmp.Diff(want, met.Objective); diff != "" {
		t.Error(diff)
	}

	measured := snapshottest.ObjectiveReport(objective.Met)
	measured.Measured = &objective.Measured{Late: 0.029}
	both := of(measured).Objective
	if both.Measured != "2.9%" {
		t.Errorf("%q", both.Measured)
	}

	priced := snapshottest.WithCostRatio(snapshottest.Key("a")).Objective
	want.Asked, want.Headroom, want.BudgetSpent, want.BurnRate = "late demand costs 20×", "1.4", "", ""
	want.Headline = "Forewarm uses 11% fewer replica-hours than an HPA with a target of 70% of a replica's capacity, including the price of late demand."
	if diff := cmp.Diff(want, of(priced).Objective); diff != "" {
		t.Errorf("at a cost ratio: %s", diff)
	}

	byHours := of(snapshottest.WithBadHours(snapshottest.Key("a")).Objective).Objective
	if want := "1% in bad hours over 14 days, wait 30s"; byHours.Asked != want {
		t.Errorf("%q, want %q", byHours.Asked, want)
	}

	nothing := &objective.Report{
		Late: 0.005, Wait: time.Minute, Budget: objective.Budget{Over: 7 * 24 * time.Hour}, Verdict: objective.Learning,
		Autoscalers: []objective.AutoscalerReport{{Headroom: math.NaN(), ExpectedLate: math.NaN()}},
	}
	young := &v1alpha1.ObjectiveStatus{Asked: "0.5% late over 7 days, wait 1m", Verdict: "Learning"}
	if diff := cmp.Diff(young, of(nothing).Objective); diff != "" {
		t.Error(diff)
	}

	// A replica that starts has read no history: what was known stays known, for as long as the spec is the same.
	starting := &snapshot.ForecastSnapshot{
		State:      snapshot.Pending,
		Generation: 1,
		Skill:      math.NaN(),
		Coverage:   math.NaN(),
	}
	if got := forecasts.StatusOf(starting, &met, noon()); got.Objective != met.Objective {
		t.Errorf("starting, the objective is %+v", got.Objective)
	}
	starting.Generation = 2
	if got := forecasts.StatusOf(starting, &met, noon()); got.Objective != nil {
		t.Errorf("of another spec, the objective is %+v", got.Objective)
	}
	if got := forecasts.StatusOf(entry("a", noon()), &met, noon()); got.Objective != nil {
		t.Errorf("without an objective it is %+v", got.Objective)
	}
}

func TestNewsOfAnObjective(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*objective.Report)
		want   string
	}{
		{"nothing", func(*objective.Report) {}, "silent"},
		{"twice as much is late", func(r *objective.Report) { r.Served.Late *= 2 }, "ordinary"},
		{"no demand any more", func(r *objective.Report) { r.Served = objective.Account{} }, "ordinary"},
		{"another margin", func(r *objective.Report) { r.Autoscalers[0].Headroom = 1.6 }, "ordinary"},
		{"another reason", func(r *objective.Report) { r.Selection.Rule = decide.SelectedFirst }, "ordinary"},
		{"what is not shown", func(r *objective.Report) { r.Observed.Late, r.Candidates = 17, nil }, "silent"},
		{"another candidate", func(r *objective.Report) { r.Selection.Selected = "last-season" }, "urgent"},
		{"another verdict", func(r *objective.Report) { r.Verdict = objective.FasterThanLead }, "urgent"},
	} {
		met := reported(noon(), snapshottest.ObjectiveReport(objective.Met))
		before := forecasts.StatusOf(met, &v1alpha1.ForecastStatus{}, noon())
		report := snapshottest.ObjectiveReport(objective.Met)
		c.change(report)
		after := forecasts.StatusOf(reported(noon(), report), &before, noon())
		if got := forecasts.UrgencyOf(&before, &after); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
}

// testObjective tells a story of an objective: learning, met by another candidate, missed. Each is one event, no matter who
// leads, and digits are none.
func testObjective(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(t.Context()))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	events := broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: "forewarm"})

	s := &scene{T: t, client: forecastsOf(t, c.Config), objects: watch(t, c.Config), snapshots: &snapshot.Store{}}
	lead := func() {
		s.writer = forecasts.NewStatusWriter(s.objects, s.snapshots, quiet())
		s.writer.SetEvents(events)
	}
	lead()
	c.MustKubectl(t, forecast("a", "x"), "create", "-f", "-")
	expectTargets(t, s.objects, "a=x")

	now := noon()
	next := func(r *objective.Report) {
		t.Helper()
		now = now.Add(time.Minute)
		s.step(now, reported(now, r), 1)
	}
	learning := snapshottest.ObjectiveReport(objective.Learning)
	learning.Selection.Selected = "last-value"
	next(learning)
	next(snapshottest.ObjectiveReport(objective.Met))
	more := snapshottest.ObjectiveReport(objective.Met)
	more.Served.Late *= 1.05
	next(more)

	// Another replica leads. It has read no history yet.
	lead()
	now = now.Add(time.Minute)
	pending := entry("a", now)
	pending.State = snapshot.Pending
	s.step(now, pending, 1)
	next(snapshottest.ObjectiveReport(objective.Met))
	next(snapshottest.ObjectiveReport(objective.AtMaxReplicas))

	// A suspect is told once, too.
	for range 2 {
		now = now.Add(time.Minute)
		suspect := reported(now, snapshottest.ObjectiveReport(objective.AtMaxReplicas))
		suspect.Conditions = append(suspect.Conditions, snapshot.Condition{
			Type: snapshot.ConditionData, Reason: snapshot.ReasonSuspect, Message: "the demand is a million",
		})
		s.step(now, suspect, 1)
	}

	status, _ := stored(t, s.client, "a")
	if status.Objective == nil || status.Objective.Late != "2.4%" || status.Conditions[1].Reason != "AtMaxReplicas" ||
		status.Conditions[1].Status != "False" {
		t.Errorf("objective %+v, conditions %+v", status.Objective, status.Conditions)
	}
	table := c.MustKubectl(t, "", "get", "fc", "a")
	if !strings.Contains(table, "LATE") || !strings.Contains(table, "2.4%") {
		t.Errorf("kubectl get fc:\n%s", table)
	}
	const want = "Normal CandidateChanged Forecast/a regression replaces last-value: regression is selected: it " +
		"had a lower relative cost than last-season (1.7 instead of 1.81) for 24 hours in a row\n" +
		"Normal ObjectiveMet Forecast/a the verdict changed from Learning to Met: at most 1% of the demand over 7 days may wait longer " +
		"than 30s. So far, 0.62% was late, which is 62.1% of the budget. Forewarm uses headroom 1.3\n" +
		"Warning ObjectiveMissed Forecast/a the verdict changed from Met to AtMaxReplicas: at most 1% of the demand over 7 days may wait longer " +
		"than 30s, but 2.4% was late. maxReplicas is 12, but the highest demand of the last 7 days needed 16 replicas. Raise maxReplicas\n" +
		"Warning SuspectSample Forecast/a the demand is a million\n"
	const template = `{range .items[?(@.involvedObject.name=="a")]}{.type} {.reason} ` +
		`{.involvedObject.kind}/{.involvedObject.name} {.message}{"\n"}{end}`
	eventually(t, func() string {
		text := c.MustKubectl(t, "", "get", "events", "-o", "jsonpath="+template)
		lines := strings.SplitAfter(text, "\n")
		slices.Sort(lines)
		return cmp.Diff(want, strings.Join(lines, ""))
	})
}

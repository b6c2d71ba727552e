package refresh //nolint:testpackage // The messages, without a history.

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// warmingResult is the view of a Forecast whose newest sample came a step ago, and its target.
func warmingResult(span time.Duration, decided bool) (result, Job) {
	t := Job{
		Key: snapshottest.Key("llama"), Generation: 1, Step: time.Minute, Lead: 5 * time.Minute,
		StaleAfter: 10 * time.Minute, Settings: decide.Settings{Late: 0.01, Target: 40, Lead: 5 * time.Minute},
	}
	e := entryOf(t)
	e.SampleTime, e.Model = snapshottest.Now().Add(-time.Minute), "last-value"
	e.Choice = decide.SelectionReason{Selected: "last-value", Rule: decide.SelectedFirst, Criterion: decide.PinballLoss}
	return result{
		attempted: true, stored: true, entry: e, selected: decided, span: span, season: 24 * time.Hour,
		fallback: decide.Decision{Rule: decide.ByRunningMax, Lookback: 375 * time.Second},
	}, t
}

func TestWarmingSaysUntilWhenItGainsNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		span    time.Duration
		decided bool
		want    string
	}{
		{
			"a young history", 7*time.Hour + 29*time.Minute, true,
			"Forewarm has only 7h29m of history and needs one season (24h); until 2026-03-05 07:00 UTC at the earliest, the forecast " +
				"is no better than the observed demand; last-value is selected: no other candidate has a pinball loss",
		},
		{
			"a minute of it", time.Minute, false,
			"Forewarm has only 1m of history and needs one season (24h); until 2026-03-05 14:28 UTC at the earliest, the forecast " +
				"is no better than the observed demand; the highest demand observed over the last 6m15s is 0",
		},
		{
			"enough, but without a score", 30 * time.Hour, false,
			"Forewarm has 30h of history, but the selected model has no score yet, or the demand of one season ago is unknown; until " +
				"then, the forecast is no better than the observed demand; the highest demand observed over the last 6m15s is 0",
		},
	} {
		v, target := warmingResult(c.span, c.decided)
		e := v.entryAt(target, snapshottest.Now())
		if got := e.Conditions[0]; e.State != snapshot.Warming || !got.True || !strings.HasPrefix(got.Message, c.want) {
			t.Errorf("%s: %s, %q, want %q", c.name, e.State, got.Message, c.want)
		}
	}
}

func TestObjectiveIsACondition(t *testing.T) {
	v, target := warmingResult(48*time.Hour, true)
	for verdict, met := range map[objective.Verdict]bool{
		objective.Met: true, objective.Learning: false, objective.AtMaxReplicas: false, objective.FasterThanLead: false,
		objective.Bounded: false,
	} {
		v.entry.Objective = snapshottest.ObjectiveReport(verdict)
		found := false
		for _, c := range v.entryAt(target, snapshottest.Now()).Conditions {
			if c.Type == snapshot.ConditionObjective {
				found = c.True == met && c.Reason == string(verdict) && c.Message == v.entry.Objective.Message()
			}
		}
		if !found {
			t.Errorf("%s is not the condition's reason", verdict)
		}
	}
	v.entry.Objective = nil
	for _, c := range v.entryAt(target, snapshottest.Now()).Conditions {
		if c.Type == snapshot.ConditionObjective {
			t.Errorf("without an outcome the condition says %q", c.Message)
		}
	}
}

// suspected is a Forecast whose demand is a suspect.
func suspected() *snapshot.Snapshot {
	e := snapshottest.Ready(snapshottest.Key("llama"))
	e.Conditions = append(e.Conditions, snapshot.Condition{
		Type: snapshot.ConditionData, Reason: snapshot.ReasonSuspect, Message: "the demand is a million",
	})
	return snapshottest.Snapshot(e)
}

func TestChangesOfAnObjectiveAreLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	made := func(generation int64, verdict objective.Verdict, candidate string) *snapshot.Snapshot {
		e := snapshottest.WithObjective(snapshottest.Key("llama"))
		e.Generation = generation
		if verdict == "" {
			e.Objective = nil
		} else {
			e.Objective = snapshottest.ObjectiveReport(verdict)
			e.Objective.Selection.Selected = candidate
		}
		return snapshottest.Snapshot(e)
	}
	var before *snapshot.Snapshot
	for _, c := range []struct {
		now  *snapshot.Snapshot
		want []string
	}{
		{made(1, "", ""), nil},
		{made(1, objective.Learning, "last-value"), nil},
		{made(1, objective.Met, "last-value"), []string{"level=INFO", "ObjectiveMet", "inference/llama"}},
		{made(1, objective.Met, "last-value"), nil},
		{made(1, objective.Met, "learnt"), []string{"level=INFO", "CandidateChanged", "learnt replaces last-value"}},
		{made(1, objective.AtMaxReplicas, "learnt"), []string{"level=WARN", "ObjectiveMissed", "the last 7 days needed 16"}},
		{made(2, objective.Met, "last-season"), nil},
		{snapshottest.Snapshot(), nil},
		{made(3, objective.Learning, "learnt"), nil},
		{suspected(), []string{"level=WARN", "SuspectSample", "a million"}},
		{suspected(), nil},
	} {
		text.Reset()
		logChanges(t.Context(), log, before, c.now)
		before = c.now
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q was not logged: %s", want, text.String())
			}
		}
		if lines := strings.Count(text.String(), "\n"); len(c.want) == 0 && lines > 0 {
			t.Errorf("what is no news was logged: %s", text.String())
		}
	}
}

package objective_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
)

// told is what a report says of which a change is worth an event.
type told struct {
	candidate string
	verdict   objective.Verdict
}

func TestChangesAreNews(t *testing.T) {
	met := told{"learnt", objective.Met}
	for _, c := range []struct {
		name        string
		before, now told
		reasons     string
		missed      bool
	}{
		{"nothing was known", told{}, met, "", false},
		{"nothing changed", met, met, "", false},
		{"another candidate", told{"last-value", objective.Met}, met, "CandidateChanged", false},
		{"missed", met, told{"learnt", objective.AtMaxReplicas}, "ObjectiveMissed", true},
		{
			"missed for another reason",
			told{"learnt", objective.AtMaxReplicas},
			told{"learnt", objective.FasterThanLead},
			"", false,
		},
		{"met again", told{"learnt", objective.FasterThanLead}, met, "ObjectiveMet", false},
		{"learnt enough", told{"learnt", objective.Learning}, met, "ObjectiveMet", false},
		{"learning again", met, told{"learnt", objective.Learning}, "ObjectiveLearning", false},
		{"both", told{"last-season", objective.FasterThanLead}, met, "CandidateChanged ObjectiveMet", false},
	} {
		r := objective.Report{
			Selection: decide.SelectionReason{
				Selected: c.now.candidate, Rule: decide.SelectedAsBetter, SelectedLoss: 3.21,
			},
			Verdict: c.now.verdict,
			Late:    0.006,
		}
		var reasons []string
		missed := false
		for _, change := range r.ChangesSince(c.before.candidate, c.before.verdict) {
			reasons = append(reasons, change.Reason)
			missed = missed || change.Missed
			if !strings.Contains(change.Message, "3.21") && !strings.Contains(change.Message, "0.6%") {
				t.Errorf("%s: %q has no numbers", c.name, change.Message)
			}
		}
		if got := strings.Join(reasons, " "); got != c.reasons || missed != c.missed {
			t.Errorf("%s: %q, missed %v; want %q, %v", c.name, got, missed, c.reasons, c.missed)
		}
	}
}

func TestTheWidestMarginIsServed(t *testing.T) {
	var r objective.Report
	if s, ok := r.MostDemanding(); ok {
		t.Errorf("without an autoscaler %+v", s)
	}
	r.Autoscalers = []objective.AutoscalerReport{
		{Name: "a", Headroom: 1.1}, {Name: "b", Headroom: 1.7}, {Name: "c", Headroom: 1.3},
	}
	if s, ok := r.MostDemanding(); !ok || s.Name != "b" {
		t.Errorf("%+v, want b", s)
	}
}

func TestAccountsWithoutDemand(t *testing.T) {
	for _, a := range []objective.Account{{}, {ReplicaHours: 12}, {Arrived: math.NaN(), Late: math.NaN(), ReplicaHours: 1}} {
		if a.LateShare() != 0 || !math.IsNaN(a.RelativeCost()) {
			t.Errorf("%+v: %v late at %v, want 0 at NaN", a, a.LateShare(), a.RelativeCost())
		}
	}
	a := objective.Account{Arrived: 100, Late: 2, ReplicaHours: 170}
	if a.LateShare() != 0.02 || a.RelativeCost() != 1.7 {
		t.Errorf("%v late at %v, want 0.02 at 1.7", a.LateShare(), a.RelativeCost())
	}
}

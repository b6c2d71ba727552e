package outcome_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/outcome"
)

func TestChangesAreNews(t *testing.T) {
	met := outcome.Stand{Candidate: "learnt", Verdict: outcome.Met}
	for _, c := range []struct {
		name        string
		before, now outcome.Stand
		reasons     string
		missed      bool
	}{
		{"nothing was known", outcome.Stand{}, met, "", false},
		{"nothing changed", met, met, "", false},
		{"another candidate", outcome.Stand{Candidate: "last-value", Verdict: outcome.Met}, met, "CandidateChanged", false},
		{"missed", met, outcome.Stand{Candidate: "learnt", Verdict: outcome.AtMaxReplicas}, "ObjectiveMissed", true},
		{
			"missed for another reason",
			outcome.Stand{Candidate: "learnt", Verdict: outcome.AtMaxReplicas},
			outcome.Stand{Candidate: "learnt", Verdict: outcome.FasterThanLead},
			"", false,
		},
		{"met again", outcome.Stand{Candidate: "learnt", Verdict: outcome.FasterThanLead}, met, "ObjectiveMet", false},
		{"learnt enough", outcome.Stand{Candidate: "learnt", Verdict: outcome.Learning}, met, "ObjectiveMet", false},
		{"learning anew", met, outcome.Stand{Candidate: "learnt", Verdict: outcome.Learning}, "ObjectiveLearning", false},
		{
			"both",
			outcome.Stand{Candidate: "last-season", Verdict: outcome.FasterThanLead},
			met,
			"CandidateChanged ObjectiveMet", false,
		},
	} {
		r := outcome.Report{
			Choice:  decide.Choice{Name: c.now.Candidate, Why: decide.Cheaper, NameLoss: 3.21},
			Verdict: c.now.Verdict, Late: 0.006,
		}
		var reasons []string
		missed := false
		for _, change := range r.Changes(c.before) {
			reasons = append(reasons, change.Reason)
			missed = missed || change.Missed
			if !strings.Contains(change.Words, "3.21") && !strings.Contains(change.Words, "0.6%") {
				t.Errorf("%s: %q has no numbers", c.name, change.Words)
			}
		}
		if got := strings.Join(reasons, " "); got != c.reasons || missed != c.missed {
			t.Errorf("%s: %q, missed %v; want %q, %v", c.name, got, missed, c.reasons, c.missed)
		}
	}
}

func TestTheWidestMarginIsServed(t *testing.T) {
	var r outcome.Report
	if s, ok := r.Widest(); ok {
		t.Errorf("without an autoscaler %+v", s)
	}
	r.Scalings = []outcome.Scaled{{By: "a", K: 1.1}, {By: "b", K: 1.7}, {By: "c", K: 1.3}}
	if s, ok := r.Widest(); !ok || s.By != "b" {
		t.Errorf("%+v, want b", s)
	}
}

func TestAccountsWithoutDemand(t *testing.T) {
	for _, a := range []outcome.Account{{}, {Paid: 12}, {Arrived: math.NaN(), Late: math.NaN(), Paid: 1}} {
		if a.LateShare() != 0 || !math.IsNaN(a.Cost()) {
			t.Errorf("%+v: %v late at %v, want 0 at NaN", a, a.LateShare(), a.Cost())
		}
	}
	a := outcome.Account{Arrived: 100, Late: 2, Paid: 170}
	if a.LateShare() != 0.02 || a.Cost() != 1.7 {
		t.Errorf("%v late at %v, want 0.02 at 1.7", a.LateShare(), a.Cost())
	}
}

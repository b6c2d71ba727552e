package outcome

import "fmt"

// Stand is what of a report is news where it changes: which candidate serves, and whether the objective is met. The zero
// Stand is that nothing was known.
type Stand struct {
	Candidate string
	Verdict   Verdict
}

// Stand is the report's own.
func (r *Report) Stand() Stand { return Stand{Candidate: r.Choice.Name, Verdict: r.Verdict} }

// Change is one piece of news about an objective.
type Change struct {
	// Reason in a CamelCase word, as Kubernetes' events have it.
	Reason string
	// Missed says that the objective was met, or was not known to be missed, and is missed now.
	Missed bool
	// Words are a sentence with the numbers.
	Words string
}

// Changes are the news since a stand before: that another candidate serves, and that the objective is met, missed or not
// known to be either. A stand that was not known does not change, so that a restart tells nothing twice; and why an
// objective is missed may change without being news. That a value is bounded comes and goes with the demand: it is none.
func (r *Report) Changes(before Stand) []Change {
	var out []Change
	if before.Candidate != "" && r.Choice.Name != "" && before.Candidate != r.Choice.Name {
		out = append(out, Change{
			Reason: "CandidateChanged",
			Words:  fmt.Sprintf("%s serves in place of %s: %s", r.Choice.Name, before.Candidate, r.Choice.Words()),
		})
	}
	if before.Verdict == "" || r.Verdict == "" || r.Verdict == Bounded || before.Verdict.side() == r.Verdict.side() {
		return out
	}
	return append(out, Change{
		Reason: r.Verdict.side(), Missed: r.Verdict.Misses(),
		Words: fmt.Sprintf("%s, was %s: %s", r.Verdict, before.Verdict, r.Words()),
	})
}

// Misses says that the objective is known not to be met.
func (v Verdict) Misses() bool { return v != Met && v != Learning && v != Bounded && v != "" }

// side of the objective that a verdict is on, as the reason of a change.
func (v Verdict) side() string {
	switch {
	case v.Misses():
		return "ObjectiveMissed"
	case v == Learning:
		return "ObjectiveLearning"
	}
	return "ObjectiveMet"
}

// Widest is the autoscaler whose margin is served, the largest; false where there is none.
func (r *Report) Widest() (Scaled, bool) {
	var out Scaled
	for i, s := range r.Scalings {
		if i == 0 || s.K > out.K {
			out = s
		}
	}
	return out, len(r.Scalings) > 0
}

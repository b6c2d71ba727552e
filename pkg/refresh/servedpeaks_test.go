package refresh_test

import "testing"

// A Forecast that becomes a member of a fleet has the served peaks of its whole history at the next step, and the same value as before.
func TestMembersOfFleetsKeepServedPeaks(t *testing.T) {
	jobs := fixedJobs{jobOf("llama")}
	loop, _ := newLoop(t, &demandSource{demand: daily}, jobs)
	other, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{jobOf("llama")})
	if got := entry(t, loop.Step(t.Context(), noon), "llama").ServedPeaks.Len(); got != 0 {
		t.Errorf("%d peaks without a fleet", got)
	}
	other.Step(t.Context(), noon)
	jobs[0].KeepServedPeaks = true
	member := entry(t, loop.Step(t.Context(), noon.Add(step)), "llama")
	plain := entry(t, other.Step(t.Context(), noon.Add(step)), "llama")
	if got := member.ServedPeaks.Len(); got < 2*288 {
		t.Errorf("%d peaks of three days of history, want at least two days of them", got)
	}
	if member.Decision.Value != plain.Decision.Value {
		t.Errorf("a member serves %v, others %v", member.Decision.Value, plain.Decision.Value)
	}
}

package refresh_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A namespace whose long histories change at every step keeps the processors busy with fits that no one will read. The next
// namespace's samples stay new.
func TestHeavyNeighboursDelayNobody(t *testing.T) {
	if testing.Short() || os.Getenv("FOREWARM_LONG") == "" {
		t.Skip("a quarter of a minute of fits: set FOREWARM_LONG, and no -short")
	}
	const heavies = 20
	jobs := fixedJobs{jobOf("victim")}
	for i := range heavies {
		heavy := jobOf(fmt.Sprintf("heavy-%d", i))
		heavy.Key.Namespace = "greedy"
		heavy.History, heavy.Step, heavy.Models = 30*24*time.Hour, 30*time.Second, nil
		jobs = append(jobs, heavy)
	}
	newLoop := func(grace time.Duration, jobs fixedJobs) *refresh.Loop {
		t.Helper()
		loop, _ := loopWith(t, refresh.Config{Grace: grace}, &unrecordedSource{daily}, jobs)
		return loop
	}
	// A step has the time of four such fits, on this machine with what else runs on it: enough for the one that is
	// running and the victim's own, a fifth of all.
	began := time.Now()
	newLoop(time.Hour, jobs[1:2]).Step(t.Context(), noon)
	loop := newLoop(4*time.Since(began), jobs)
	for i := range 6 {
		now := noon.Add(time.Duration(i) * step)
		e := entry(t, loop.Step(t.Context(), now), "victim")
		// The first steps are for the first fit.
		if age := now.Sub(e.SampleTime); i > 1 && (e.State != snapshot.Ready || age > 2*step) {
			t.Errorf("step %d: %s, a sample of %s ago, want at most %s", i, e.State, age, 2*step)
		}
		for j := range jobs[1:] {
			jobs[1+j].Generation++
		}
	}
}

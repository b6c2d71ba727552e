package compare_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// studied are the settings of a policy, without the first day.
func studied(t *testing.T, c compare.Config, s compare.Study, policy string) []compare.Setting {
	t.Helper()
	got, err := compare.RunStudy(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []compare.Setting
	first := 0
	for _, one := range got.Settings {
		switch {
		case one.Policy != policy:
		case one.FirstDay:
			first++
		default:
			out = append(out, one)
		}
	}
	if first == 0 || len(got.Shares.Late) == 0 == (policy == compare.Forewarm) {
		t.Errorf("%d settings on the first day, late shares %v", first, got.Shares.Late)
	}
	return out
}

// What a study has of an objective is what a comparison has; a larger constant headroom is more expensive and no later.
func TestStudyIsTheComparison(t *testing.T) {
	c := short()
	c.Only = []string{compare.Forewarm, compare.BestTarget}
	want := named(t, played(t, c), compare.Forewarm)
	s := compare.Study{Objectives: []float64{0.01, 0.05}, Headrooms: []float64{0, 2, 11}, Judged: 1}
	got := studied(t, c, s, compare.Forewarm)
	if len(got) != 5 || got[0].Setting != 0.01 || got[1].Setting != 0.05 || !math.IsNaN(got[0].Headroom) ||
		got[4].Headroom != 11 {
		t.Fatalf("%+v", got)
	}
	if got[0].Late != want.Report.LateShare() || got[0].RelativeCost != want.Report.RelativeCost() {
		t.Errorf("%+v, in the comparison %v at %v", got[0], want.Report.LateShare(), want.Report.RelativeCost())
	}
	for i := 3; i < 5; i++ {
		if a, b := got[i-1], got[i]; !(b.RelativeCost >= a.RelativeCost) || b.Late > a.Late {
			t.Errorf("%+v after %+v", b, a)
		}
	}
	c.Only = []string{compare.BestTarget}
	targets := studied(t, c, s, compare.BestTarget)
	best := named(t, played(t, c), compare.BestTarget)
	for _, one := range targets {
		if one.Setting == best.Target && one.RelativeCost != best.Report.RelativeCost() {
			t.Errorf("%+v, in the comparison %v", one, best.Report.RelativeCost())
		}
	}
}

// Starts that vary are drawn several times, and the mean of the draws is none of them.
func TestStudyDraws(t *testing.T) {
	c := short()
	c.Lead, c.Only = compare.LeadTime{Median: 5 * time.Minute, P90: 15 * time.Minute}, []string{compare.BestTarget}
	one := studied(t, c, compare.Study{Objectives: []float64{0.01}}, compare.BestTarget)
	three := studied(t, c, compare.Study{Objectives: []float64{0.01}, Draws: 3}, compare.BestTarget)
	differ := 0
	for i := range one {
		if one[i].Late != three[i].Late {
			differ++
		}
	}
	if differ == 0 {
		t.Error("three draws are as one")
	}
}

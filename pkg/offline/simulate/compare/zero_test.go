package compare_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// quietNights is days of a demand in minutes from eight to six, and no demand at night.
func quietNights(days int) forecast.Series {
	s := working(days)
	for i := range s.Values {
		if hour := i % 1440 / 60; hour < 8 || hour >= 18 {
			s.Values[i] = 0
		}
	}
	return s
}

// An HPA with minReplicas 0 sleeps at night with both. On the observed demand, it wakes too late every morning; on Forewarm's value, it is
// ready from the third morning on.
func TestScaleToZero(t *testing.T) {
	c := config(quietNights(7))
	c.Only = []string{compare.HPA, compare.Forewarm}
	awake := played(t, c)
	if idle := awake.Find(compare.Forewarm).IdleTime; idle != nil {
		t.Errorf("with a minimum of 1: %+v", idle)
	}
	c.HPA.Min, c.HPA.Cluster.ScaleToZero = 0, true
	out := played(t, c)
	for name, late := range map[string]bool{compare.HPA: true, compare.Forewarm: false} {
		p := out.Find(name)
		idle := p.IdleTime
		nights := time.Duration(idle.Recurring.Count) * 14 * time.Hour
		if idle == nil || idle.Recurring.Count < 3 || idle.Idle < nights || idle.Asleep < idle.Idle*8/10 ||
			(idle.Recurring.Asleep == idle.Recurring.Count) != late || !late && idle.Recurring.Asleep > 0 {
			t.Errorf("%s: %+v", name, idle)
		}
		if saved := awake.Find(name).Report.ReplicaHours - p.Report.ReplicaHours; saved < 0.9*idle.Asleep.Hours() {
			t.Errorf("%s: %v replica-hours fewer than with a minimum of 1, of %v asleep", name, saved, idle.Asleep)
		}
	}
	if notes := strings.Join(out.Notes, "\n"); !strings.Contains(notes, "forewarm: at zero replicas in ") {
		t.Errorf("the notes do not say how much it sleeps:\n%s", notes)
	}
	c.Demand = working(4)
	if notes := strings.Join(played(t, c).Notes, "\n"); !strings.Contains(notes, "the demand was never 0 for an hour") {
		t.Errorf("the notes do not say that it cannot sleep:\n%s", notes)
	}
}

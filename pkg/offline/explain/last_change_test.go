package explain_test

import (
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/explain"
)

// What a status tells of the last change is counted against the policies. The figures are by hand.
func TestLastChange(t *testing.T) {
	limited := func(reason hpa.Reason) explain.Condition {
		return explain.Condition{Type: "ScalingLimited", True: true, Reason: string(reason)}
	}
	ago := func(d time.Duration) func(*explain.Input) {
		return func(s *explain.Input) { s.Live.LastScale = noon().Add(-d) }
	}
	slowly := func(b *hpa.Behavior) {
		b.Down.Stabilization = 0
		b.Down.Policies = []hpa.ScalingPolicy{{Type: hpa.Percent, Value: 20, Period: time.Minute}}
	}
	standard := withBehavior(func(*hpa.Behavior) {})
	for _, c := range []struct {
		name string
		s    *explain.Input
		want int32
	}{
		{"2 became 6 by 4 pods in 15 s: not 7 yet", inputOf(6, 70, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(4*time.Second)), 6},
		{"but after them", inputOf(6, 70, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(15*time.Second)), 7},
		{"the status of the sync that went from 5 to 6: up to 10", inputOf(6, 170, standard, withStatus(6, 5, 60), ago(4*time.Second)), 10},
		{"of 6 from 6 it tells nothing: up to 12", inputOf(6, 170, standard, withStatus(6, 6, 60), ago(4*time.Second)), 12},
		{"without a behavior there is no memory", inputOf(6, 170, withStatus(6, 5, 60), ago(4*time.Second)), 12},
		{"10 became 8, a fifth in a minute: not less yet", inputOf(8, 10, withBehavior(slowly), withStatus(8, 8, 10, limited(hpa.ScaleDownLimit)), ago(40*time.Second)), 8},
		{"but after it", inputOf(8, 10, withBehavior(slowly), withStatus(8, 8, 10, limited(hpa.ScaleDownLimit)), ago(time.Minute)), 6},
		{"somebody else scaled since", inputOf(9, 170, standard, withStatus(6, 6, 70, limited(hpa.ScaleUpLimit)), ago(4*time.Second)), 17},
		{"a time to come tells nothing", inputOf(6, 170, standard, withStatus(6, 5, 60), ago(-time.Hour)), 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			if e := explained(t, c.s); *e.Desired != c.want {
				t.Errorf("%d replicas, want %d: %v", *e.Desired, c.want, e.Sentences)
			}
		})
	}
}

package pools_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

func TestAPoolThatCannotBeGivenBackSaysWhy(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", enforced)
	w.run(t, 1)
	w.places.gone = &pools.Problem{Reason: "Forbidden", Message: "apply deploy/warm-pools"}
	w.stored.remove("h100")
	w.run(t, 12)
	expect(t, w.status("h100"), v1alpha1.PoolConditionReady, "False Forbidden", "apply deploy/warm-pools")
	if w.places.releases > 4 {
		t.Errorf("tried %d times in 12 steps", w.places.releases)
	}
	w.places.gone = nil
	w.run(t, 8)
	if len(w.stored.objects) > 0 || len(w.places.held) > 0 {
		t.Error("it is still there")
	}
}

func TestAnInvalidPoolKeepsWhatItHolds(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", enforced)
	w.run(t, 1)
	w.stored.put(t, "h100", strings.Replace(enforced, "limits", "limit", 1))
	w.run(t, 10)
	s := w.status("h100")
	expect(t, s, v1alpha1.PoolConditionReady, "False Invalid", "resources.limit: unknown field")
	expect(t, s, v1alpha1.PoolConditionReady, "False Invalid", "the pool keeps what it holds")
	if s.State != "Invalid" || w.places.held["h100"].Base != 4 || s.Memory == nil || w.places.holds != 1 ||
		w.stored.writes > 3 {
		t.Errorf("%+v, %+v", s, w.places)
	}
}

// TestFaultsOfTheActuator: they are said, and tried again without haste.
func TestFaultsOfTheActuator(t *testing.T) {
	problem := &pools.Problem{Reason: "QuotaExceeded", Message: "raise the quota"}
	for _, c := range []struct {
		about string
		fault func(*places)
		want  string
		most  int
	}{
		{"a quota", func(p *places) { p.fail = problem }, "False QuotaExceeded", 6},
		{"a server that is down", func(p *places) { p.fail = errors.New("refused") }, "False Retrying", 6},
		{"a look that fails", func(p *places) { p.blind = errors.New("refused") }, "False Retrying", 6},
	} {
		t.Run(c.about, func(t *testing.T) {
			w := newWorld()
			w.stored.put(t, "h100", enforced)
			w.run(t, 1)
			c.fault(&w.places)
			w.loads["llama"].demand = 80
			w.places.holds, w.places.looks = 0, 0
			w.run(t, 20)
			expect(t, w.status("h100"), v1alpha1.PoolConditionActuated, c.want, "")
			expect(t, w.status("h100"), v1alpha1.PoolConditionReady, c.want, "")
			if w.places.holds > c.most || w.places.looks > c.most+1 {
				t.Errorf("%d times held and %d times looked in 20 steps", w.places.holds, w.places.looks)
			}
			w.places.fail, w.places.blind = nil, nil
			w.run(t, 20)
			expect(t, w.status("h100"), v1alpha1.PoolConditionActuated, "True Held", "6 chunks")
			if want := []string{
				"Warning " + strings.Fields(c.want)[1],
				"Normal Actuated",
			}; !slices.Contains(w.told, want[0]) ||
				!slices.Contains(w.told, want[1]) {
				t.Error(w.told)
			}
		})
	}
}

func TestWhatHindersIsSaid(t *testing.T) {
	w := newWorld()
	w.places.remark = "no node takes it"
	w.stored.put(t, "h100", enforced)
	w.run(t, 1)
	expect(t, w.status("h100"), v1alpha1.PoolConditionActuated, "False Blocked", "no node takes it")
}

func TestAnInvalidPoolThatIsDeletedGivesBackWhatItHolds(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", enforced)
	w.run(t, 1)
	w.stored.put(t, "h100", "max: many")
	w.run(t, 1)
	w.stored.remove("h100")
	w.run(t, 1)
	if len(w.places.held)+len(w.stored.objects) > 0 {
		t.Errorf("%+v", w.places)
	}
}

func TestARefusedWriteIsAnErrorAndNoHotLoop(t *testing.T) {
	w := newWorld()
	w.stored.put(t, "h100", spec)
	w.stored.refuse = apierrors.NewUnauthorized("who are you")
	w.run(t, 1)
	if len(w.problems) != 1 ||
		!strings.Contains(w.problems[0].Error(), "write the status of WarmPool team/h100: who are you") {
		t.Error(w.problems)
	}
	w.stored.refuse = nil
	w.run(t, 1)
	if w.status("h100").Wanted != 4 {
		t.Errorf("%+v", w.status("h100"))
	}
}

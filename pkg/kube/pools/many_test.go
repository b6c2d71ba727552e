package pools_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A thousand pools, most of them nonsense, are each judged by themselves: the sound ones are held, the others say what is wrong,
// and all together write and tell no more than the API server bears.
func TestAThousandPools(t *testing.T) {
	if testing.Short() {
		t.Skip("one controller, a thousand times")
	}
	w := newWorld()
	w.places.ready = 8
	odd := []string{
		enforced,
		spec,
		enforced + "min: 9\n",
		enforced + "min: -2147483648\n",
		strings.Replace(enforced, "max: 8", "max: many", 1),
		strings.Replace(enforced, "{forecast: llama}", "{forecast: other/llama}", 1),
		enforced + "quantile: \"NaN\"\n",
		"members: {}\n",
		strings.Replace(enforced, "{forecast: llama}", "{forecast: llama, chunks: -1}", 1),
		enforced + "leadTime: {fallback: 0s}\n",
		strings.Replace(enforced, "gpu: 1", "gpu: 1e400", 1),
		enforced + "budget: {idleGPUHoursPerDay: -5}\n",
		enforced + "size: 3\n",
		enforced + "actuator: []\n",
		strings.Replace(enforced, "{forecast: llama}", "{forecast: \"\\u0000../x\"}", 1),
	}
	const many = 1000
	for i := range many {
		w.stored.put(t, fmt.Sprintf("pool-%d", i), odd[i%len(odd)])
	}
	for step := range 22 {
		writes, told := w.stored.writes, len(w.told)
		w.run(t, 1)
		if n := w.stored.writes - writes; n > 60 || len(w.told)-told > 2*n+many/10 {
			t.Errorf("step %d: %d writes, %d events", step, n, len(w.told)-told)
		}
	}
	invalid := 0
	for i := range many {
		name := fmt.Sprintf("pool-%d", i)
		switch s := w.status(name); {
		case s.State == "Invalid":
			invalid++
			for _, c := range s.Conditions {
				if len(c.Message) > 2100 {
					t.Errorf("%s: a message of %d bytes", name, len(c.Message))
				}
			}
			if w.places.held[name].Base != 0 {
				t.Errorf("%s is invalid, and holds %+v", name, w.places.held[name])
			}
		case i%len(odd) > 1 || s.State == "":
			t.Errorf("%s: %q with %s", name, s.State, odd[i%len(odd)])
		}
	}
	if want := many - many/len(odd)*2 - 2; invalid != want {
		t.Errorf("%d pools are invalid, want %d", invalid, want)
	}
	if len(w.problems) > 0 {
		t.Error(w.problems)
	}
	w.stored.refuse = apierrors.NewServiceUnavailable(strings.Repeat("the API server is down ", 4))
	w.loads["llama"].demand = 10
	w.run(t, 4)
	if len(w.problems) == 0 {
		t.Fatal("writes that fail are no problem")
	}
	for _, err := range w.problems {
		if len(err.Error()) > 2000 {
			t.Errorf("%d bytes of what went wrong: %.200s", len(err.Error()), err)
		}
	}
}

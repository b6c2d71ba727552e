package forecasts //nolint:testpackage // A decision over resolved objects, without a cluster.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A namespace that has too much is refused what is newest; what was accepted stays, and other namespaces are not affected.
func TestANamespaceHasItsLimits(t *testing.T) {
	begin := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	forecast := func(namespace string, i int, accepted bool) *resolution {
		return &resolution{
			created: begin.Add(time.Duration(i) * time.Minute), accepted: accepted,
			target: refresh.Job{
				Key:        snapshot.Key{Namespace: namespace, Name: fmt.Sprintf("f-%03d", i)},
				Generation: 3,
				Workload:   "Deployment/llama",
				History:    100 * time.Minute,
				Step:       time.Minute,
			},
		}
	}
	for name, test := range map[string]struct {
		limits   Limits
		accepted func(i int) bool
		refused  int
		says     string
	}{
		"no limit":                  {Limits{}, func(int) bool { return false }, 0, ""},
		"the number":                {Limits{Forecasts: 6}, func(int) bool { return false }, 4, "--max-forecasts-per-namespace"},
		"the points":                {Limits{Points: 750}, func(int) bool { return false }, 3, "--max-points-per-namespace"},
		"a limit that is new":       {Limits{Forecasts: 6}, func(int) bool { return true }, 0, ""},
		"some were there before it": {Limits{Forecasts: 6}, func(i int) bool { return i > 0 }, 1, "--max-forecasts-per-namespace"},
	} {
		all := []*resolution{forecast("other", 99, false)}
		for i := range 10 {
			all = append(all, forecast("greedy", i, test.accepted(i)))
		}
		var refused []string
		for _, target := range test.limits.limited(all) {
			if target.Invalid == "" {
				continue
			}
			refused = append(refused, target.Key.Name)
			if target.Key.Namespace != "greedy" || !strings.Contains(target.Invalid, test.says) ||
				target.Generation != 3 {
				t.Errorf("%s: %+v", name, target)
			}
		}
		if len(refused) != test.refused {
			t.Errorf("%s: refused %v, want %d", name, refused, test.refused)
		}
	}
}

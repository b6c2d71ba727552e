package refresh_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// A Forecast whose series all come from an exporter that is not named has none, and the condition says why.
func TestReportsThatDoNotCountAreNamed(t *testing.T) {
	for reports, want := range map[float64]bool{2: true, math.NaN(): false} {
		source := &demandSource{demand: func(time.Time) float64 { return reports }}
		source.fail = func(q refresh.Query) error {
			if q.Expr == "count(claims)" {
				return nil
			}
			return fmt.Errorf("%w over the range", series.ErrNoSeries)
		}
		claimed := target("llama")
		claimed.Claims = "claims"
		loop, _ := newLoop(t, source, fixedTargets{claimed})
		e := entry(t, loop.Step(t.Context(), noon), "llama")
		c := condition(t, e, snapshot.ConditionSource)
		said := strings.Contains(c.Message, "2 other namespaces") &&
			strings.Contains(c.Message, "--exporter-namespaces")
		if e.State != snapshot.Pending || c.Reason != "NoSeries" || said != want {
			t.Errorf("%v reports: %s, source %+v", reports, e.State, c)
		}
	}
}

// A store of several clusters, whose namespaces of one name add up, is said in the status.
func TestClustersThatAddUpAreSaid(t *testing.T) {
	for clusters, want := range map[float64]bool{2: true, 1: false, math.NaN(): false} {
		source := sources{"demand": {demand: daily}, "clusters": {demand: func(time.Time) float64 { return clusters }}}
		several := target("llama")
		several.Clusters = "clusters"
		loop, _ := newLoop(t, source, fixedTargets{several})
		c := condition(t, entry(t, loop.Step(t.Context(), noon), "llama"), snapshot.ConditionSource)
		if said := strings.Contains(c.Message, "in 2 clusters") &&
			strings.Contains(c.Message, "--cluster"); said != want ||
			!c.True {
			t.Errorf("%v clusters: %+v", clusters, c)
		}
	}
}

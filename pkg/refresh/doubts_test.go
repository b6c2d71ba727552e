package refresh_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// doubtful is a source that answers the query for doubts, and names deleted pods.
type doubtful struct {
	*demandSource

	numbers map[string]float64
	err     error
	asked   int
}

func (d *doubtful) FetchByLabel(_ context.Context, q refresh.Query, label string) (map[string]float64, error) {
	switch {
	case q.Expr == "doubts" && label == refresh.DoubtLabel && q.From.Equal(q.To):
		d.asked++
		return d.numbers, d.err
	case q.Expr == "deleted" && label == "pod":
		return map[string]float64{"llama-old-b": 1, "llama-old-a\x1b[2J": 1}, nil
	}
	return nil, errors.New("asked for " + label + " of " + q.Expr)
}

// What may be wrong with a value is said, and changes nothing.
func TestDoubtsAboutAValueAreSaid(t *testing.T) {
	for name, c := range map[string]struct {
		numbers map[string]float64
		err     error
		rarely  bool
		reason  string
		message string
		source  string // What the condition SourceHealthy says, which stays True.
		asked   int
	}{
		"nothing":                {numbers: map[string]float64{refresh.DoubtCopies: 1, refresh.DoubtSamples: 4}, asked: 2},
		"the source fails":       {err: errors.New("away"), asked: 2},
		"an HA pair":             {numbers: map[string]float64{refresh.DoubtCopies: 2}, reason: "CopiesAddUp", message: "2 copies of the same scrape", asked: 2},
		"deleted pods":           {numbers: map[string]float64{refresh.DoubtDeleted: 2}, source: "2 deleted pods (llama-old-a", asked: 2},
		"profiling is paused":    {numbers: map[string]float64{refresh.DoubtProfiling: 1}, reason: "ProfilingIdle", message: "of 1 GPU is 0", asked: 2},
		"rare scrapes":           {numbers: map[string]float64{refresh.DoubtSamples: 2}, reason: "WindowTooShort", message: "only 2 samples", asked: 2},
		"silent replicas":        {numbers: map[string]float64{refresh.DoubtSilent: 3}, reason: "SilentReplicas", message: "3 ready replicas", asked: 2},
		"asked with the history": {numbers: map[string]float64{refresh.DoubtCopies: 3}, rarely: true, reason: "CopiesAddUp", message: "3 copies", asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			source := &doubtful{demandSource: &demandSource{demand: daily}, numbers: c.numbers, err: c.err}
			one := jobOf("llama")
			one.SideQueries = refresh.SideQueries{refresh.FrequentDoubts: "doubts", refresh.DeletedPods: "deleted"}
			if c.rarely {
				one.SideQueries = refresh.SideQueries{refresh.Doubts: "doubts"}
			}
			loop, _ := newLoop(t, source, fixedJobs{one})
			plain, _ := newLoop(t, &demandSource{demand: daily}, fixedJobs{jobOf("llama")})
			var e, undoubted *snapshot.ForecastSnapshot
			for i := range 7 {
				at := noon.Add(time.Duration(i) * step)
				e, undoubted = entry(
					t,
					loop.Step(t.Context(), at),
					"llama",
				), entry(
					t,
					plain.Step(t.Context(), at),
					"llama",
				)
			}
			at := noon.Add(6 * step)
			answer, err := e.Answer(decide.Overrides{}, at)
			want, errPlain := undoubted.Answer(decide.Overrides{}, at)
			if err != nil || errPlain != nil || !reflect.DeepEqual(answer, want) {
				t.Errorf("answers %+v, %v; without a doubt %+v, %v", answer, err, want, errPlain)
			}
			if doubted := hasCondition(e, snapshot.ConditionSignal); doubted != (c.reason != "") {
				t.Fatalf("a condition: %v; %+v", doubted, e.Conditions)
			}
			if c.reason != "" {
				said := condition(t, e, snapshot.ConditionSignal)
				if said.True || said.Reason != c.reason || !strings.Contains(said.Message, c.message) ||
					strings.Contains(said.Message, "\x1b") {
					t.Errorf("%+v, want %s: %s", said, c.reason, c.message)
				}
			}
			got := condition(t, e, snapshot.ConditionSource)
			if !got.True || !strings.Contains(got.Message, c.source) || strings.Contains(got.Message, "\x1b") {
				t.Errorf("%+v, want True: %s", got, c.source)
			}
			if source.asked != c.asked {
				t.Errorf("asked %d times in seven minutes, want %d", source.asked, c.asked)
			}
		})
	}
}

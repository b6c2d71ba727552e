package snapshot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// exposing is a Forecast of a namespace with an alias, created some seconds after the others.
func exposing(namespace, name, metric, queue string, second int) *snapshot.ForecastSnapshot {
	e := snapshottest.Ready(snapshot.Key{Namespace: namespace, Name: name})
	e.Alias = &snapshot.Alias{
		Metric: metric, Labels: map[string]string{"queue": queue}, Created: time.Unix(int64(second), 0),
	}
	return e
}

func TestWhoAnswersUnderAnAlias(t *testing.T) {
	const ready = "queue_messages_ready"
	for _, c := range []struct {
		name    string
		entries []*snapshot.ForecastSnapshot
		// holder of a's alias; reason and words of the condition of b, or else of a.
		holder, reason, words string
	}{
		{"its Forecast", []*snapshot.ForecastSnapshot{exposing("x", "a", ready, "orders", 1)}, "a", "Exposed", `queue_messages_ready{queue="orders"}`},
		{"with other labels there are two", []*snapshot.ForecastSnapshot{
			exposing("x", "a", ready, "orders", 2), exposing("x", "b", ready, "payments", 1),
		}, "a", "Exposed", "payments"},
		{"the older of two", []*snapshot.ForecastSnapshot{
			exposing("x", "a", ready, "orders", 1), exposing("x", "b", ready, "orders", 2),
		}, "a", "AliasTaken", "the Forecast a is older"},
		{"whatever the order of their names", []*snapshot.ForecastSnapshot{
			exposing("x", "a", ready, "orders", 2), exposing("x", "b", ready, "orders", 1),
		}, "b", "Exposed", ""},
		{"the first by name of two of one second", []*snapshot.ForecastSnapshot{
			exposing("x", "b", ready, "orders", 1), exposing("x", "a", ready, "orders", 1),
		}, "a", "AliasTaken", "remove spec.expose"},
		{"namespaces do not meet", []*snapshot.ForecastSnapshot{
			exposing("x", "a", ready, "orders", 2), exposing("y", "b", ready, "orders", 1),
		}, "a", "Exposed", ""},
		{"a Forecast of the metric's name comes first", []*snapshot.ForecastSnapshot{
			exposing("x", "a", "llama", "orders", 1), snapshottest.Ready(snapshot.Key{Namespace: "x", Name: "llama"}),
		}, "", "NameTaken", "rename that Forecast"},
		{"a Forecast may expose its own name", []*snapshot.ForecastSnapshot{exposing("x", "a", "a", "orders", 1)}, "a", "Exposed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snapshottest.Snapshot(c.entries...)
			a := s.Get(snapshot.Key{Namespace: "x", Name: "a"})
			holder, got := "", a
			if e := s.ByAlias("x", a.Alias); e != nil {
				holder = e.Key.Name
			}
			for _, e := range c.entries {
				if e.Key.Name == "b" {
					got = e
				}
			}
			last := got.Conditions[len(got.Conditions)-1]
			if holder != c.holder || last.Type != "Exposed" || last.Reason != c.reason ||
				!strings.Contains(last.Message, c.words) {
				t.Errorf("%q answers, %+v", holder, last)
			}
		})
	}
}

// In shadow mode an alias has the value that a client of the source reads, and a name the credible demand. Other modes are alike.
func TestAnAliasServesTheQuerysOwnValueInShadowMode(t *testing.T) {
	e := exposing("x", "a", "m", "orders", 1)
	e.Sampled = e.Observed * 3 // A spike that is not credible yet.
	for _, falling := range []bool{false, true} {
		e.Fallback = falling
		for _, mode := range []decide.Mode{decide.Floor, decide.Shadow} {
			asked := decide.Overrides{Mode: mode}
			named, err := e.Answer(asked, snapshottest.Now())
			exposed, wrong := e.AnswerExposed(asked, snapshottest.Now())
			want := named.Value
			if mode == decide.Shadow {
				want = e.Sampled
			}
			if err != nil || wrong != nil || exposed.Value != want ||
				mode == decide.Shadow && named.Value != e.Observed {
				t.Errorf("%s: %g by its name, %g by its alias, %v, %v", mode, named.Value, exposed.Value, err, wrong)
			}
		}
	}
}

package signal_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// answers are the series of a query over the minutes of the scenarios, by one label; an error means that it cannot be asked.
func answers(t *testing.T, from storage.Queryable, expr, label string) (map[string][]promql.FPoint, error) {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	query, err := engine.NewRangeQuery(
		t.Context(),
		from,
		nil,
		expr,
		time.Unix(60, 0),
		time.Unix(300, 0),
		30*time.Second,
	)
	if err != nil {
		t.Fatalf("%v: %s", err, expr)
	}
	defer query.Close()
	matrix, err := query.Exec(t.Context()).Matrix()
	out := map[string][]promql.FPoint{}
	for _, s := range matrix {
		s.Metric.Range(func(l labels.Label) {
			if l.Name != label {
				t.Errorf("a series with the label %s=%q", l.Name, l.Value)
			}
		})
		out[s.Metric.Get(label)] = append([]promql.FPoint{}, s.Floats...)
	}
	return out, err
}

// Asked together, queries have the answers that each has alone, to the bit: in every scenario, for every kind of workload in it.
func TestJoinedQueriesAnswerAsEachAlone(t *testing.T) {
	joined := map[string]int{}
	for _, s := range scenarios() {
		targets := []signal.Target{
			{
				Kind: "Deployment",
				Name: "llama",
			},
			{Kind: "Deployment", Name: "llama-2"},
			{Kind: "Deployment", Name: "missing"},
		}
		if s.kind != "" {
			targets = []signal.Target{
				{Kind: s.kind, Name: s.name},
				{Kind: s.kind, Name: "missing"},
				{Kind: s.kind, Name: "web-two"},
			}
		}
		load := owners + neighbours + shorthands.Replace(s.load)
		for _, scraped := range []string{load, exported(load, "monitoring", "exporter-0"), twice(load)} {
			from := promqltest.LoadedStorage(t, "load 15s"+strings.ReplaceAll(unique(scraped), "\n\n", "\n"))
			var parts []promexpr.Part
			alone := map[string][]promql.FPoint{}
			for _, target := range targets {
				expr := render(t, s.preset, target)
				part, ok := promexpr.Split(expr)
				if !ok || len(parts) > 0 && part.Template != parts[0].Template {
					t.Fatalf(
						"%s of %s %s cannot be asked together with others: %s",
						s.preset,
						target.Kind,
						target.Name,
						expr,
					)
				}
				parts = append(parts, part)
				one, err := answers(t, from, expr, "")
				if err != nil {
					t.Fatal(err)
				}
				if points, found := one[""]; found {
					alone[part.ID] = points
				}
			}
			together, err := answers(t, from, promexpr.Join(parts), promexpr.PartLabel)
			if err != nil {
				t.Fatalf("%s: %v", s.preset, err)
			}
			if len(together) != len(alone) {
				t.Fatalf("%s, %s: %d answers together, %d alone", s.preset, s.trap, len(together), len(alone))
			}
			for id, want := range alone {
				joined[s.preset]++
				sameFloats(t, s.preset+" "+s.trap, together[id], want)
			}
			if err := from.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, preset := range signal.PresetNames() {
		if joined[preset] == 0 {
			t.Errorf("no answer of %s was compared", preset)
		}
	}
}

func sameFloats(t *testing.T, of string, got, want []promql.FPoint) {
	t.Helper()
	for i := range want {
		if len(got) != len(want) || got[i].T != want[i].T || math.Float64bits(got[i].F) != math.Float64bits(want[i].F) {
			t.Fatalf("%s: together %v, alone %v", of, got, want)
		}
	}
}

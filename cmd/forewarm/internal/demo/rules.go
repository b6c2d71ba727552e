package demo

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/printable"
)

// badHours is the objective of forecastYAML.
const badHours = 0.01

// printRules prints what simple rules would have done on the load until a time, next to Forewarm. Each rule gets the target that is best in
// hindsight. It prints nothing if the context ends.
func (a *announcer) printRules(ctx context.Context, until time.Time) {
	got, err := compare.Compare(ctx, a.load.comparison(until), nil)
	if err != nil || got.Partial {
		if ctx.Err() == nil {
			fmt.Fprintf(a.out, "Simple rules cannot be compared: %v\n\n", err)
		}
		return
	}
	lines := [][]string{{"", "target", "replica-hours", "bad hours", ""}}
	for i := range got.Policies {
		p := &got.Policies[i]
		misses := ""
		if !p.MeetsObjective {
			misses = "misses the objective"
		}
		lines = append(lines, []string{
			p.Name,
			humanize.Number(p.Target),
			humanize.Amount(p.Report.ReplicaHours),
			humanize.Count(p.Report.BadHours.Count),
			misses,
		})
	}
	fmt.Fprintf(
		a.out,
		"The same %s with simple rules, each with the target that was best in hindsight (forewarm simulate explains them):\n"+
			"%s\n",
		humanize.Period(got.Policies[0].Report.Duration),
		printable.Table(lines, 1, 2), //nolint:mnd // As in tables.
	)
}

// comparison returns the configuration to compare policies on the load until a time: an HPA with a target of 70 % of what a replica
// sustains, and the rules.
func (l *load) comparison(until time.Time) compare.Config {
	return compare.Config{
		Demand: l.sampled(l.Start, until, l.Step), Source: l.name, Autoscaler: l.name,
		HPA:  autoscalerOf(l.name, manifest.MaxReplicas, objective.AssumedTarget*l.target),
		Lead: compare.LeadTime{Median: l.lead}, Capacity: l.target, Objective: badHours, BadHours: true,
		Only: []string{
			compare.HPA,
			compare.BestTarget,
			compare.Max15m,
			compare.Offset,
			compare.HoltWinters,
			compare.ARIMA,
			compare.Forewarm,
		},
	}
}

// autoscalerOf returns an HPA of at least one replica with a target for a replica.
func autoscalerOf(name string, maxReplicas int32, target float64) hpa.Spec {
	return hpa.Spec{
		Min: 1, Max: maxReplicas, Cluster: hpa.DefaultCluster(), Metrics: []hpa.Metric{{
			Name: name, Source: hpa.External, Type: hpa.AverageValue, Target: int64(math.Round(1000 * target)),
		}},
	}
}

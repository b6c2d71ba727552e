package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// lever is a way to save cost other than the forecast. It is simulated with Forewarm on every trace, with an objective of 1 %.
type lever struct {
	name string
	lead time.Duration
	// others are other workloads that also serve the demand.
	others []compare.Variant
}

// levers returns the levers that are measured. A replica of the trace's own workload costs a dollar per hour.
func levers() []lever {
	const unlimited = 100_000
	return []lever{
		{"burst 2m $1, base 10m $.5", 2 * time.Minute, []compare.Variant{
			{Name: "base", Lead: 10 * time.Minute, Price: .5, Min: 1, Max: unlimited},
		}},
		{"burst 2m $1, base 10m $.8", 2 * time.Minute, []compare.Variant{
			{Name: "base", Lead: 10 * time.Minute, Price: .8, Min: 1, Max: unlimited},
		}},
		{"on demand 5m $1, spot 5m $.35, lost every 20 h, at most 12", 5 * time.Minute, []compare.Variant{
			{
				Name: "spot", Lead: 5 * time.Minute, Price: .35, Min: 1, Max: meanReplicas,
				Interruptions: .05,
			},
		}},
	}
}

// playLevers prints the cost of each lever. For variants, this is the cost in dollars divided by the demand's replica-hours, for each
// variant alone and for all together. For servers that sleep, it is the replica-hours in which they are awake. The last rows of each lever
// are the geometric mean over the traces, and the means of the other columns.
func (p player) playLevers(ctx context.Context, out io.Writer) error {
	table := &leverTable{to: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), traces: float64(len(p.traces))}
	fmt.Fprintln(table.to, "lever\ttrace\tpolicy\tcost\tlate\t")
	plays := []func(context.Context, *leverTable, recorded) error{p.playWakes}
	for _, l := range levers() {
		plays = append(plays, func(ctx context.Context, table *leverTable, r recorded) error {
			return p.playVariants(ctx, table, r, l)
		})
	}
	for _, play := range plays {
		for _, r := range p.traces {
			if err := play(ctx, table, r); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
		table.means()
	}
	return table.to.Flush()
}

func (p player) leverConfig(r recorded, lead time.Duration) compare.Config {
	c := configOf(r, compare.LeadTime{Median: lead}, 0)
	c.Objective, c.GPUPrice, c.Workers = 0.01, 1, p.jobs
	return c
}

func (p player) playVariants(ctx context.Context, table *leverTable, r recorded, l lever) error {
	own, outcomes, err := playAsked(ctx, p.leverConfig(r, l.lead), compare.Asked{Variants: l.others})
	if err != nil {
		return err
	}
	for _, one := range append([]compare.Outcome{*own}, outcomes...) {
		table.add(leverRow{
			l.name, r.name, cmp.Or(one.Name, "own alone"), one.Dollars / demandHours(own), one.Limited,
			one.Report.ChurnPerHour(), "churn %.1f/h",
		})
	}
	return nil
}

func (p player) playWakes(ctx context.Context, table *leverTable, r recorded) error {
	starts, outcomes, err := playAsked(ctx, p.leverConfig(r, 5*time.Minute),
		compare.Asked{Wake: compare.Wake{Time: 5 * time.Second, Spare: 2}})
	if err != nil {
		return err
	}
	for _, one := range append([]compare.Outcome{*starts}, outcomes...) {
		pays := 0.0
		if one.Asleep > 0 {
			pays = 100 * max(0, starts.Report.ReplicaHours-one.Report.ReplicaHours) / one.Asleep
		}
		table.add(leverRow{
			"starts in 5m, or wakes in 5s", r.name, cmp.Or(one.Name, "forewarm, starts in 5m"),
			one.Report.ReplicaHours / demandHours(starts), one.Limited, pays, "pays below %.0f%%",
		})
	}
	return nil
}

// playAsked simulates Forewarm as configured, and the additional scenarios.
func playAsked(
	ctx context.Context,
	c compare.Config,
	asked compare.Asked,
) (*compare.Outcome, []compare.Outcome, error) {
	scenarios, err := asked.Scenarios(c)
	if err != nil {
		return nil, nil, err
	}
	got, err := compare.Play(ctx, c, append([]compare.Scenario{{}}, scenarios...), nil)
	if err != nil {
		return nil, nil, err
	}
	if len(got) <= len(scenarios) {
		return nil, nil, context.Cause(ctx)
	}
	return &got[0], got[1:], nil
}

// demandHours returns the demand in replica-hours.
func demandHours(o *compare.Outcome) float64 { return o.Report.ReplicaHours / o.Report.RelativeCost() }

// leverRow is a policy with a lever on a trace. The last number has its own format.
type leverRow struct {
	lever, trace, policy string
	cost, late, other    float64
	format               string
}

// leverTable collects rows.
type leverTable struct {
	to     *tabwriter.Writer
	traces float64
	rows   []leverRow
}

func (t *leverTable) add(r leverRow) {
	t.rows = append(t.rows, r)
	fmt.Fprintf(t.to, "%s\t%s\t%s\t%.3f\t%.2f%%\t"+r.format+"\n", r.lever, r.trace, r.policy, r.cost, 100*r.late,
		r.other)
}

// means prints the means of the rows since the last call.
func (t *leverTable) means() {
	var sums []leverRow
	for _, r := range t.rows {
		at := slices.IndexFunc(sums, func(s leverRow) bool { return s.policy == r.policy })
		if at < 0 {
			at = len(sums)
			sums = append(sums, leverRow{lever: r.lever, trace: "all", policy: r.policy, format: r.format})
		}
		s := &sums[at]
		s.cost, s.late, s.other = s.cost+math.Log(r.cost)/t.traces, s.late+r.late/t.traces, s.other+r.other/t.traces
	}
	for _, s := range sums {
		s.cost = math.Exp(s.cost)
		t.add(s)
	}
	t.rows = nil
}

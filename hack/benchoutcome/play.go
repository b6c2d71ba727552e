package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

const (
	// defaultStabilization is the default of an HPA. longStabilization is a setting that people use against flapping.
	defaultStabilization = 5 * time.Minute
	longStabilization    = 30 * time.Minute
	// stable30m is the name of the HPA with longStabilization in the tables.
	stable30m = "hpa-stable-30m"
	// draws is the number of draws if the start times vary.
	draws = 3
)

// judgedObjectives returns the objectives whose runs are judged. The other objectives are used to find the cost of a single setting for all
// traces.
func judgedObjectives() []float64 { return []float64{0.005, 0.01, 0.02} }

func objectives() []float64 {
	return append(judgedObjectives(), 0.0003, 0.001, 0.002, 0.003, 0.0075, 0.015, 0.03)
}

// configOf returns the configuration for a trace under a standard HPA with a scale-down stabilization.
func configOf(r recorded, lead compare.LeadTime, stabilization time.Duration, only ...string) compare.Config {
	down := hpa.DefaultScaleDown()
	down.Stabilization = stabilization
	return compare.Config{
		Demand: r.demand, Source: r.name, Autoscaler: "trace", Lead: lead, Capacity: replicaCapacity, Only: only,
		HPA: hpa.Spec{
			Min: 1, Max: 100_000, // More replicas than any trace needs.
			Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{
				{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: replicaCapacity * 1000},
			},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}
}

// player simulates traces.
type player struct {
	options
	traces   []recorded
	progress io.Writer
}

// play reads the traces and simulates them.
func play(ctx context.Context, o options, out, progress io.Writer) (record, error) {
	traces, err := readTraces(o.traces...)
	if err != nil {
		return nil, err
	}
	if o.scheduled {
		made, problem := scheduledLoads()
		if problem != nil {
			return nil, problem
		}
		traces = append(traces, made...)
	}
	p := player{o, traces, progress}
	if o.levers {
		return nil, p.playLevers(ctx, out)
	}
	return p.playLeads(ctx, out)
}

// playLeads simulates the traces with each lead time.
func (p player) playLeads(ctx context.Context, out io.Writer) (record, error) {
	var all record
	for _, lead := range p.leads {
		lines, err := p.playLead(ctx, lead)
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			if !p.asJSON {
				break
			}
			if err := json.NewEncoder(out).Encode(l); err != nil {
				return nil, err
			}
		}
		all = append(all, lines...)
	}
	return all, nil
}

// playLead simulates the traces with one lead time, and returns their lines in the order of the traces. If there is a folder for priors, it
// only learns.
func (p player) playLead(ctx context.Context, lead compare.LeadTime) (record, error) {
	if p.priors != "" {
		learnt, err := p.learn(ctx, lead, everyFamily)
		if err != nil {
			return nil, err
		}
		return nil, learnt.write(p.priors)
	}
	var learnt *learner
	if !p.shipped {
		var err error
		if learnt, err = p.learn(ctx, lead, familiesOf(p.traces)...); err != nil {
			return nil, err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.jobs)
	byTrace := make([]record, len(p.traces))
	for i, r := range p.traces {
		group.Go(func() error {
			from := time.Now()
			var err error
			byTrace[i], err = p.playTrace(ctx, r, lead, learnt)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			fmt.Fprintf(p.progress, "L = %s: %s: %d settings in %s\n", leadText(lead), r.name, len(byTrace[i]),
				time.Since(from).Round(time.Second))
			return nil
		})
	}
	err := group.Wait()
	return slices.Concat(byTrace...), err
}

// playTrace simulates every policy on a trace.
func (p player) playTrace(ctx context.Context, r recorded, lead compare.LeadTime, learnt *learner) (record, error) {
	own := configOf(r, lead, 0, compare.Forewarm)
	own.BadHours = p.badHours
	if p.deferrable > 0 {
		own.Deferrable, own.Deadline = p.deferrable, p.deadline
	}
	if learnt != nil {
		var err error
		if own.Priors, err = learnt.knownTo(r.family); err != nil {
			return nil, err
		}
	}
	stock := configOf(r, lead, defaultStabilization, compare.BestTarget)
	configs := []compare.Config{own, stock}
	if !p.short {
		own.Only = append(own.Only, compare.Oracle)
		stock.Only = append(stock.Only, compare.Max15m, compare.Offset, compare.HoltWinters, compare.ARIMA)
		configs = []compare.Config{own, stock, configOf(r, lead, longStabilization, compare.BestTarget)}
	}
	study := compare.Study{
		Objectives: objectives(), Headrooms: objective.FineGrid(), Judged: len(judgedObjectives()), Draws: 1,
	}
	if lead.P90 > 0 {
		study.Draws = draws
	}
	var out record
	for _, c := range configs {
		got, err := compare.RunStudy(ctx, c, study)
		if err != nil {
			return nil, err
		}
		for _, s := range got.Settings {
			l := lineOf(r, lead, s)
			if c.HPA.Behavior.Down.Stabilization == longStabilization {
				l.Policy = stable30m
			}
			out = append(out, l)
		}
	}
	return out, nil
}

// line is the result of one setting of a policy on a trace.
type line struct {
	Lead   string `json:"lead"`
	Trace  string `json:"trace"`
	Family string `json:"family"`
	Policy string `json:"policy"`
	// Setting is the target as a share of a replica's capacity or, of Forewarm, the objective. Headroom is the constant multiplier
	// for the objective, if it is one.
	Setting  float64  `json:"setting"`
	Headroom *float64 `json:"headroom,omitempty"`
	// FirstDay: the first 24 h are counted instead of the time after the warm-up.
	FirstDay bool    `json:"first_day,omitempty"`
	Cost     float64 `json:"cost"`
	Late     float64 `json:"late"`
	// BadHours is the share of the demand that arrived in hours of which more than a tenth was late.
	BadHours float64 `json:"bad_hours"`
	Churn    float64 `json:"churn_per_hour"`
	// Missed is the share of the deferrable work that missed its deadline.
	Missed float64 `json:"missed,omitempty"`
}

func lineOf(r recorded, lead compare.LeadTime, s compare.Setting) line {
	l := line{
		Lead:     leadText(lead),
		Trace:    r.name,
		Family:   r.family,
		Policy:   s.Policy,
		Setting:  s.Setting,
		FirstDay: s.FirstDay,
		Cost:     s.RelativeCost,
		Late:     s.Late,
		BadHours: s.BadHours,
		Churn:    s.ChurnPerHour,
		Missed:   s.Missed,
	}
	if s.Policy != compare.Forewarm {
		l.Setting /= replicaCapacity
	}
	if !math.IsNaN(s.Headroom) {
		l.Headroom = &s.Headroom
	}
	if math.IsNaN(l.Cost) { // Nothing arrived.
		l.Cost = 0
	}
	return l
}

// leadText returns a text that leadOf can parse.
func leadText(l compare.LeadTime) string {
	if l.P90 == 0 {
		return l.Median.String()
	}
	return l.Median.String() + ",p90=" + l.P90.String()
}

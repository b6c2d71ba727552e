package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// Defaults of a Forecast, except the lead time, which is not measured here.
const (
	loopStep    = demandtest.Step
	loopHistory = 14 * 24 * time.Hour
	lead        = 5 * time.Minute
	wait        = 30 * time.Second
	staleAfter  = 10 * time.Minute
	// maxReplicas is more than any history needs.
	maxReplicas = 100_000
)

// request is a way to use the served value.
type request string

const (
	quantile  request = "quantile"
	objective request = "objective"
)

// play is a history with a request.
type play struct {
	history
	request request
}

// playsOf returns both requests for each history.
func playsOf(histories []history) []play {
	var out []play
	for _, h := range histories {
		out = append(out, play{h, quantile}, play{h, objective})
	}
	return out
}

func (p play) String() string { return p.name + "/" + string(p.request) }

// policy returns the policy of the Forecast: the 0.95 quantile, or 1 % of late demand.
func (p play) policy() decide.Settings {
	if p.request == quantile {
		return decide.Settings{Quantile: 0.95, Lead: lead, Mode: decide.Floor}
	}
	return decide.Settings{Late: 0.01, Wait: wait, Target: float64(p.target), Lead: lead, Mode: decide.Floor}
}

// scalings returns the autoscaler that the README recommends, for which an objective is calibrated. A quantile needs none.
func (p play) scalings() []decide.Autoscaler {
	if p.request == quantile {
		return nil
	}
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	return []decide.Autoscaler{{Name: "spec.scaling", HPA: hpa.Spec{
		Min: 1, Max: maxReplicas, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{
			Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 1000 * p.target,
		}},
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
	}}}
}

func (p play) loopTarget() refresh.Job {
	t := refresh.Job{
		Key: snapshot.Key{Namespace: "served", Name: p.name}, Generation: 1, Expr: "demand", Rate: p.rate,
		Step: loopStep, History: loopHistory, Lead: lead, StaleAfter: staleAfter,
		Settings: p.policy(), Autoscalers: p.scalings(),
	}
	if p.rate {
		t.Lookback = time.Minute
	}
	return t
}

// step is a step of the loop: what it observed last, and what it serves until the next step; NaN if there is none.
type step struct {
	at               time.Time
	observed, served float64
}

// String is the step as a line: the time, what was observed and what is served, to the last bit. Revisions are compared by it:
// another shape makes them incomparable.
func (s step) String() string {
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return s.at.UTC().Format(time.RFC3339) + " " + exact(s.observed) + " " + exact(s.served)
}

// printSteps writes a line for each step of one play.
func printSteps(ctx context.Context, o options, out io.Writer) error {
	_, chosen, err := plays(o, io.Discard)
	if err != nil {
		return err
	}
	if len(chosen) != 1 {
		return fmt.Errorf("%d plays are asked for, want one: print NAME/REQUEST", len(chosen))
	}
	buffered := bufio.NewWriter(out) // The writer keeps the first error of a write.
	err = chosen[0].steps(ctx, o.length(), func(s step) bool {
		fmt.Fprintln(buffered, s)
		return true
	})
	return errors.Join(err, buffered.Flush())
}

// steps simulates the first part of a history with a given length, up to the end of an hour. A length of 0 means all of it. It ends when
// each returns false.
func (p play) steps(ctx context.Context, length time.Duration, each func(step) bool) error {
	loop, err := simulate.NewLoop(ctx, p.loopTarget(), refresh.Config{})
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	demand := p.demand
	if length > 0 {
		end := demand.Start.Add(length).Truncate(time.Hour)
		demand.Values = demand.Values[:min(demand.Len(), int(end.Sub(demand.Start)/demand.Step))]
	}
	seen := &watchedPolicy{loop: loop, each: func(s step) bool { return ctx.Err() == nil && each(s) }}
	if _, err := simulate.ServedValues(demand, loopStep, seen); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return ctx.Err()
}

// watchedPolicy is a policy that shows its values to a function, until the function returns false.
type watchedPolicy struct {
	loop   *simulate.Loop
	each   func(step) bool
	enough bool
}

// Serve is the loop's value.
func (w *watchedPolicy) Serve(o simulate.Observation) float64 {
	if w.enough {
		return math.NaN()
	}
	value := w.loop.Serve(o)
	w.enough = !w.each(step{at: o.At, observed: o.Arrived, served: value})
	return value
}

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// learner learns from traces what Forewarm knows about a workload before it has seen it. The family of the workload is left out.
type learner struct {
	player // Plays the traces from which it learns.
	lead   compare.LeadTime
	// rows has the rows of each trace. shares has the results under each multiplier, by the family that is left out.
	rows   []quantreg.Rows
	shares map[string][]objective.Priors
}

// everyFamily leaves no family out.
const everyFamily = ""

// learn learns from the traces, separately for each family that is left out. If a family is left out, it is left out everywhere: the
// lateness of another trace is measured with a regression that knows neither family.
func (p player) learn(ctx context.Context, lead compare.LeadTime, families ...string) (*learner, error) {
	of := p
	of.traces = slices.DeleteFunc(slices.Clone(p.traces), func(r recorded) bool { return !r.counts() })
	l := &learner{
		player: of, lead: lead, rows: make([]quantreg.Rows, len(of.traces)), shares: map[string][]objective.Priors{},
	}
	err := l.each(ctx, "rows for the regression", func(i int) (err error) {
		l.rows[i], err = l.collect(l.traces[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, family := range families {
		l.shares[family] = make([]objective.Priors, len(l.traces))
		err = l.each(ctx, "lateness under each headroom multiplier", func(i int) error {
			return l.measure(ctx, i, family)
		})
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// measure measures the lateness of a trace if a family is left out.
func (l *learner) measure(ctx context.Context, i int, without string) error {
	r := l.traces[i]
	if r.family == without {
		return nil
	}
	prior, err := l.fitPeaks(without, r.family)
	if err != nil {
		return err
	}
	c := configOf(r, l.lead, 0, compare.Forewarm)
	c.Priors = &forecaster.Priors{WindowPeak: prior}
	got, err := compare.RunStudy(ctx, c, compare.Study{Objectives: []float64{0.01}})
	if err == nil {
		l.shares[without][i] = got.Shares
	}
	return err
}

// each calls do for every trace.
func (l *learner) each(ctx context.Context, what string, do func(i int) error) error {
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(l.jobs)
	for i, r := range l.traces {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(i); err != nil {
				return fmt.Errorf("%s of %s: %w", what, r.name, err)
			}
			n := done.Add(1)
			fmt.Fprintf(l.progress, "L = %s, beforehand, %d of %d: %s of %s\n", leadText(l.lead), n, len(l.traces),
				what, r.name)
			return nil
		})
	}
	return group.Wait()
}

// peakConfig is the configuration of the window peak forecast.
func (l *learner) peakConfig() windowpeak.Config {
	return windowpeak.Config{
		Step: compare.Step, Window: l.window(), Models: windowpeak.DefaultRegressionInputs(),
	}
}

func (l *learner) window() time.Duration { return leadtime.Window(l.lookAhead()) }

// lookAhead returns the lead time by which the server looks ahead.
func (l *learner) lookAhead() time.Duration { return leadtime.LookAhead(l.lead.Median, l.lead.P90) }

// collect gathers rows for the priors of other families.
func (l *learner) collect(r recorded) (quantreg.Rows, error) {
	const every = 10 * time.Minute
	c := l.peakConfig()
	c.Prior = windowpeak.NaivePrior(c.RegressionColumns())
	set, err := windowpeak.NewCandidateSet(c)
	if err != nil {
		return quantreg.Rows{}, err
	}
	load, err := simulate.Resample(r.demand, sim.DefaultSync)
	if err != nil {
		return quantreg.Rows{}, err
	}
	collector := windowpeak.NewCollector(set, int(every/compare.Step))
	_, err = simulate.ServedValues(load, compare.Step, collecting{collector})
	return collector.Rows, err
}

// collecting collects rows, and serves no value.
type collecting struct{ collector *windowpeak.Collector }

func (c collecting) Serve(o simulate.Observation) float64 {
	c.collector.Step(demand.Sample{Observed: o.Demand, Value: o.Arrived})
	return math.NaN()
}

// fitPeaks fits the prior of the regression without some families. The other families have equal weights.
func (l *learner) fitPeaks(without ...string) (windowpeak.Prior, error) {
	columns := l.peakConfig().RegressionColumns()
	others := l.others(without...)
	if len(others) == 0 {
		return windowpeak.NaivePrior(columns), nil
	}
	families, total := map[string]int{}, 0
	for _, i := range others {
		n := len(l.rows[i].Y)
		families[l.traces[i].family] += n
		total += n
	}
	var all quantreg.Rows
	for _, i := range others {
		all.X, all.Y = append(all.X, l.rows[i].X...), append(all.Y, l.rows[i].Y...)
		weight := float64(total) / float64(len(families)*families[l.traces[i].family])
		all.Weights = append(all.Weights, slices.Repeat([]float64{weight}, len(l.rows[i].Y))...)
	}
	return windowpeak.FitPrior(columns, all)
}

// others returns the traces of all families except some.
func (l *learner) others(without ...string) []int {
	var out []int
	for i, r := range l.traces {
		if !slices.Contains(without, r.family) {
			out = append(out, i)
		}
	}
	return out
}

// knownTo returns what is known about a workload of a family from the other families.
func (l *learner) knownTo(family string) (*forecaster.Priors, error) {
	peaks, err := l.fitPeaks(family)
	if err != nil {
		return nil, err
	}
	out := &forecaster.Priors{WindowPeak: peaks}
	others := l.others(family)
	if len(others) == 0 {
		out.Headroom, err = objective.BuiltinPriors(l.lookAhead())
		return out, err
	}
	var families []string
	for _, i := range others {
		families = append(families, l.traces[i].family)
	}
	weights := familyWeights(families)
	var late, bad []objective.Shares
	for _, i := range others {
		late = append(late, l.shares[family][i].Late)
		bad = append(bad, l.shares[family][i].BadHours)
	}
	out.Headroom = objective.Priors{Late: geometricMean(late, weights), BadHours: geometricMean(bad, weights)}
	return out, nil
}

// geometricMean returns the weighted geometric mean of the shares of several workloads.
func geometricMean(all []objective.Shares, weights []float64) objective.Shares {
	out := objective.Shares{}
	for name, shares := range all[0] {
		mean := make([]float64, len(shares))
		for n := range all {
			for k, v := range all[n][name] {
				mean[k] += weights[n] * math.Log(v+minLogLate)
			}
		}
		for k := range mean {
			mean[k] = math.Exp(mean[k])
		}
		out[name] = mean
	}
	return out
}

// minLogLate is added to a lateness before taking its logarithm.
const minLogLate = 1e-4

// priorLeads returns the lead times of the built-in priors.
func priorLeads() []compare.LeadTime {
	return []compare.LeadTime{{Median: 2 * time.Minute}, {Median: 5 * time.Minute}, {Median: 10 * time.Minute}}
}

// write writes what was learned from all families into the folders of the packages in which it is embedded.
func (l *learner) write(folder string) error {
	priors, err := l.knownTo(everyFamily)
	if err != nil {
		return err
	}
	for of, to := range map[string]func(io.Writer) error{
		"windowpeak":       func(out io.Writer) error { return priors.WindowPeak.Write(out, l.window()) },
		"decide/objective": func(out io.Writer) error { return priors.Headroom.Write(out, l.lead.Median) },
	} {
		name := filepath.Join(folder, of, "priors", "lead-"+l.lead.Median.String()+".json")
		file, err := os.Create(name)
		if err != nil {
			return err
		}
		err = to(file)
		if problem := file.Close(); err == nil {
			err = problem
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

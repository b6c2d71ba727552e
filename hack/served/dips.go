package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// dip is a fault of the source in which it reads only a share of the demand for some minutes.
type dip struct {
	share float64
	lasts time.Duration
}

func (d dip) String() string { return fmt.Sprintf("%.0f %% for %s", 100*d.share, d.lasts) }

// afterDip is how long the value is observed after the beginning of a dip.
const afterDip = time.Hour

// dips returns the dips that are simulated, the short ones first.
func dips() []dip {
	var out []dip
	for _, lasts := range []time.Duration{time.Minute, 2 * time.Minute} {
		for _, share := range []float64{0, 0.1, 0.3, 0.7} {
			out = append(out, dip{share, lasts})
		}
	}
	return append(out, dip{0.1, 5 * time.Minute}, dip{0.3, 5 * time.Minute}, dip{0.3, afterDip})
}

// dipResult is the worst result of several dips.
type dipResult struct {
	// highest is the highest value of the next hour, relative to the highest value without the dip. lowest is the lowest value relative to the
	// real demand.
	highest, lowest float64
	// follows is the time from the beginning of the dip until the value has fallen at least half as far as the demand.
	follows time.Duration
}

// add keeps the worse of two results.
func (r *dipResult) add(other dipResult) {
	r.highest, r.lowest = math.Max(r.highest, other.highest), math.Min(r.lowest, other.lowest)
	r.follows = max(r.follows, other.follows)
}

// dipTable prints the effect of dips on each recorded workload.
func dipTable(ctx context.Context, o options, out, progress io.Writer) error {
	_, chosen, err := plays(o, progress)
	if err != nil {
		return err
	}
	chosen = slices.DeleteFunc(chosen, func(p play) bool { return p.kind != workloads })
	results, errs := make([][]dipResult, len(chosen)), make([]error, len(chosen))
	o.each(chosen, func(i int) {
		begun := time.Now()
		results[i], errs[i] = chosen[i].dips(ctx)
		fmt.Fprintf(progress, "%s: %s\n", chosen[i], time.Since(begun).Round(time.Second))
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "highest value, lowest value\t")
	for _, d := range dips() {
		fmt.Fprintf(table, "%s\t", d)
	}
	fmt.Fprintln(table)
	worst := map[request][]dipResult{}
	for i, p := range chosen {
		if worst[p.request] == nil {
			worst[p.request] = slices.Repeat([]dipResult{{lowest: math.Inf(1)}}, len(dips()))
		}
		for j := range results[i] {
			worst[p.request][j].add(results[i][j])
		}
		writeDips(table, p.String(), results[i])
	}
	for _, r := range []request{quantile, objective} {
		writeDips(table, "worst "+string(r), worst[r])
	}
	return table.Flush()
}

func writeDips(table io.Writer, name string, all []dipResult) {
	fmt.Fprintf(table, "%s\t", name)
	for j, r := range all {
		fmt.Fprintf(table, "%.2f %.2f", r.highest, r.lowest)
		if dips()[j].lasts > 2*time.Minute {
			fmt.Fprintf(table, " %.1fm", r.follows.Minutes())
		}
		fmt.Fprint(table, "\t")
	}
	fmt.Fprintln(table)
}

// dips simulates the demand once, and in addition each dip at several times: at the highest and the lowest hour of the second half, at the
// steepest rise and fall, and at two times in between.
func (p play) dips(ctx context.Context) ([]dipResult, error) {
	every := int(loopStep / p.demand.Step)
	var samples []float64
	for i := 0; i+every <= p.demand.Len(); i += every {
		sum := 0.0
		for _, v := range p.demand.Values[i : i+every] {
			sum += v
		}
		samples = append(samples, sum/float64(every))
	}
	config := forecaster.Config{
		Step: loopStep, Window: leadtime.Window(lead), DelaySteps: 1, Rate: true, Lookback: time.Minute,
		Settings: p.policy(), Autoscalers: p.scalings(),
	}
	config.Settings.Window = config.Window
	f := forecaster.New(config, forecaster.History{Series: forecast.Series{Start: p.demand.Start, Step: loopStep}})
	times := dipTimes(samples)
	out := slices.Repeat([]dipResult{{lowest: math.Inf(1)}}, len(dips()))
	for i, v := range samples {
		if slices.Contains(times, i) {
			next := samples[i : i+int(afterDip/loopStep)]
			var now [1]float64
			f.ValuesTo(now[:]) // This value is served when a dip begins.
			undisturbed := serves(f.Clone(), next)
			for j, d := range dips() {
				out[j].add(d.result(f.Clone(), samples[i-1], next, undisturbed, now[0]))
			}
		}
		if i > slices.Max(times) || ctx.Err() != nil {
			break
		}
		f.Step(demand.Reading{Demand: v})
	}
	return out, ctx.Err()
}

// serves returns the values that a forecaster serves for the next samples.
func serves(f *forecaster.Forecaster, samples []float64) []float64 {
	out := make([]float64, len(samples))
	for i, v := range samples {
		f.Step(demand.Reading{Demand: v})
		f.ValuesTo(out[i : i+1])
		if math.IsNaN(out[i]) {
			out[i] = f.Fallback().Value
		}
	}
	return out
}

// result returns the result of a dip that begins at the first of the next samples. before is the previous sample, and now is the value that
// is served when the dip begins.
func (d dip) result(f *forecaster.Forecaster, before float64, next, undisturbed []float64, now float64) dipResult {
	faulty := slices.Clone(next)
	for i := range faulty[:int(d.lasts/loopStep)] {
		faulty[i] *= d.share
	}
	served := serves(f, faulty)
	r := dipResult{highest: 1, lowest: math.Inf(1), follows: afterDip}
	if most := math.Max(slices.Max(undisturbed), now); most > 0 {
		r.highest = slices.Max(served) / most
	}
	for i, v := range served {
		if level := (next[i] + before) / 2; level > 0 {
			r.lowest = math.Min(r.lowest, v/level)
		}
		if before = next[i]; v <= (1+d.share)/2*undisturbed[i] {
			r.follows = min(r.follows, time.Duration(i)*loopStep)
		}
	}
	return r
}

// dipTimes returns the steps at which dips begin.
func dipTimes(samples []float64) []int {
	const hour = int(time.Hour / loopStep)
	mean := func(from int) float64 {
		sum := 0.0
		for _, v := range samples[from : from+hour] {
			sum += v
		}
		return sum
	}
	first, last := len(samples)/2, len(samples)-3*hour
	highest, lowest, rise, fall := first, first, first, first
	for i := first; i < last; i += hour / 2 {
		if mean(i) > mean(highest) {
			highest = i
		}
		if m := mean(i); m > 0 && m < mean(lowest) {
			lowest = i
		}
		if mean(i+hour)-mean(i) > mean(rise+hour)-mean(rise) {
			rise = i
		}
		if mean(i+hour)-mean(i) < mean(fall+hour)-mean(fall) {
			fall = i
		}
	}
	const within = hour / 3
	return []int{
		highest + within, lowest + within, rise + within, fall + within,
		first + (last-first)/3 + within, first + (last-first)*2/3 + within,
	}
}

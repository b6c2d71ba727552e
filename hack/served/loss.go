package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// losses are what the quantile that is served of each recorded workload is worth.
func losses(ctx context.Context, o options, out, progress io.Writer) error {
	_, chosen, err := plays(o, progress)
	if err != nil {
		return err
	}
	chosen = slices.DeleteFunc(chosen, func(p play) bool { return p.kind != workloads || p.request != quantile })
	results, errs := make([]lossResult, len(chosen)), make([]error, len(chosen))
	o.each(chosen, func(i int) {
		results[i], errs[i] = chosen[i].loss(ctx, o)
		fmt.Fprintf(progress, "%s: %.4f\n", chosen[i].name, results[i].loss)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "workload\tloss\tcoverage\tlast value's loss\t")
	logs := 0.0
	for i, p := range chosen {
		w := results[i]
		fmt.Fprintf(table, "%s\t%.5f\t%.3f\t%.5f\t\n", p.name, w.loss, w.coverage, w.last)
		logs += math.Log(w.loss) / float64(len(chosen))
	}
	fmt.Fprintf(table, "geometric mean\t%.5f\t\t\t\n", math.Exp(logs))
	return table.Flush()
}

// lossResult is the mean pinball loss of what was served, as a share of the mean demand, beside that of the demand of now, and
// the share of window peaks within what was served. The first tenth of a history, a day at most, does not count.
type lossResult struct{ loss, coverage, last float64 }

func (p play) loss(ctx context.Context, o options) (lossResult, error) {
	var steps []step
	if err := p.steps(ctx, o.length(), func(s step) bool { steps = append(steps, s); return true }); err != nil {
		return lossResult{}, err
	}
	const level = 0.95
	window := int(math.Ceil(leadtime.Window(lead).Seconds() / loopStep.Seconds()))
	minute := func(i int) float64 { return (steps[i].observed + steps[max(0, i-1)].observed) / 2 }
	var nows, peaks, values []float64
	mean, covered := 0.0, 0.0
	for i := min(len(steps)/10, int(day/loopStep)); i+window < len(steps); i++ {
		peak := 0.0
		for j := i + 1; j <= i+window; j++ {
			peak = math.Max(peak, minute(j))
		}
		served := steps[i].served
		if math.IsNaN(served) || math.IsNaN(minute(i)) {
			continue
		}
		nows, peaks, values = append(nows, minute(i)), append(peaks, peak), append(values, served)
		mean += minute(i)
		if peak <= served {
			covered++
		}
	}
	n := float64(len(peaks))
	loss, err := accuracy.Pinball(peaks, values, level)
	last, errLast := accuracy.Pinball(peaks, nows, level)
	return lossResult{loss * n / mean, covered / n, last * n / mean}, errors.Join(err, errLast)
}

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// digits are those of a value that count.
const digits = 9

// nineDigits is a value to nine digits.
func nineDigits(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	return strconv.FormatFloat(v+0, 'g', digits, 64) // −0 + 0 is 0.
}

// hour is what was served in an hour of the clock, as the first four bytes of a SHA-256: that another hour has the same
// happens once in 4·10⁹.
type hour struct {
	at  time.Time
	sum string
}

// hours hashes values by the hour.
type hours struct {
	done []hour
	at   time.Time
	hash hash.Hash
}

// add takes the value of a time, which is not before that of the last.
func (h *hours) add(at time.Time, value float64) {
	if begins := at.Truncate(time.Hour); h.hash == nil || !begins.Equal(h.at) {
		h.close()
		h.at, h.hash = begins, sha256.New()
	}
	h.hash.Write([]byte(nineDigits(value) + "\n")) // A hash never fails.
}

// close ends the hour that is under way, and returns all.
func (h *hours) close() []hour {
	if h.hash != nil {
		h.done = append(h.done, hour{h.at, sum(h.hash)})
		h.hash = nil
	}
	return h.done
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:4]) }

// sumOf hashes values that are to be the same altogether.
func sumOf(values []float64) string {
	h := sha256.New()
	for _, v := range values {
		h.Write([]byte(nineDigits(v) + "\n")) // A hash never fails.
	}
	return sum(h)
}

// fuses says that the processor rounds a product and a sum once, and not each: the records are of one that does not.
//
//go:noinline
func fuses(x, y, z float64) bool { return x*y+z != float64(x*y)+z }

// fusesMultiplyAdd is fuses on a product whose rounding matters.
func fusesMultiplyAdd() bool {
	const x = 1 + 1.0/(1<<30)
	return fuses(x, x, -(1 + 2.0/(1<<30)))
}

const (
	// workloadGrid is the grid of the recorded workloads, two steps of the loop's: what is observed is a mean.
	workloadGrid = 15 * time.Second
	// meanReplicas of workloadTarget is what the mean of every recorded workload is scaled to, as in benchoutcome.
	meanReplicas, workloadTarget = 12, 1000
	// scenarioTarget is what a replica sustains in a scenario.
	scenarioTarget = 100
	// shortest is how long a recorded workload is at least: one of hours ends 23 hours after its first.
	shortest = 23 * time.Hour
	day      = 24 * time.Hour
)

// kind of histories, which is the name of their record too.
type kind string

const (
	workloads kind = "workloads"
	scenarios kind = "scenarios"
)

// history is a demand to play.
type history struct {
	kind   kind
	name   string
	demand forecast.Series
	// target is what one replica sustains, in the demand's unit.
	target int64
	// rate says that the demand is a rate over a minute; else it is a gauge.
	rate bool
}

// madeScenarios are the histories of package [demandtest].
func madeScenarios() []history {
	var out []history
	for _, s := range demandtest.Scenarios() {
		out = append(out, history{kind: scenarios, name: s.Name, demand: s.Demand(), target: scenarioTarget})
	}
	return out
}

// recordedWorkloads are those of both folders of the outcome study.
func recordedWorkloads(data string) ([]history, error) {
	var out []history
	for _, set := range []string{"series_15s", "workloads"} {
		traces, err := demandtest.Read(filepath.Join(data, "outcome", set))
		if err != nil {
			return nil, fmt.Errorf("%w: FOREWARM_DATA names the folder with outcome/%s", err, set)
		}
		for _, r := range traces {
			demand, err := laid(r.Series)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			if time.Duration(demand.Len())*demand.Step >= shortest {
				h := history{kind: workloads, name: r.Name, demand: demand, target: workloadTarget, rate: true}
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// laid lays a trace on the grid and scales it.
func laid(s forecast.Series) (forecast.Series, error) {
	s, err := simulate.Resample(s, workloadGrid)
	if err == nil {
		err = demandtest.Scale(s, meanReplicas*workloadTarget)
	}
	// The times of some are counted from 0. The loop's anchors are multiples since the epoch, and no server runs before it.
	if s.Start.Year() == 1970 {
		s.Start = demandtest.Start().Add(time.Duration(s.Start.UnixNano()))
	}
	return s, err
}

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

// lossResult is the mean pinball loss of what was served, as a share of the mean demand, next to that of the current demand, and
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

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

// digits is the number of digits of a value that are compared.
const digits = 9

// nineDigits formats a value with nine digits.
func nineDigits(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	return strconv.FormatFloat(v+0, 'g', digits, 64) // −0 + 0 is 0.
}

// hour has the first four bytes of a SHA-256 hash of the values served in an hour of the clock. The probability that another hour has the
// same hash is 1 in 4·10⁹.
type hour struct {
	at  time.Time
	sum string
}

// hours hashes values for each hour.
type hours struct {
	done []hour
	at   time.Time
	hash hash.Hash
}

// add adds the value at a time. Times must not decrease.
func (h *hours) add(at time.Time, value float64) {
	if begins := at.Truncate(time.Hour); h.hash == nil || !begins.Equal(h.at) {
		h.close()
		h.at, h.hash = begins, sha256.New()
	}
	h.hash.Write([]byte(nineDigits(value) + "\n")) // A hash never fails.
}

// close ends the current hour, and returns all hours.
func (h *hours) close() []hour {
	if h.hash != nil {
		h.done = append(h.done, hour{h.at, sum(h.hash)})
		h.hash = nil
	}
	return h.done
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:4]) }

// sumOf hashes values that are compared as a unit.
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

// fusesMultiplyAdd calls fuses with a product for which the rounding matters.
func fusesMultiplyAdd() bool {
	const x = 1 + 1.0/(1<<30)
	return fuses(x, x, -(1 + 2.0/(1<<30)))
}

const (
	// workloadGrid is the grid of the recorded workloads, two steps of the loop, because a mean is observed.
	workloadGrid = 15 * time.Second
	// meanReplicas, with a target of workloadTarget, is the mean to which every recorded workload is scaled, as in benchoutcome.
	meanReplicas, workloadTarget = 12, 1000
	// scenarioTarget is what a replica sustains in a scenario.
	scenarioTarget = 100
	// shortest is the minimum length of a recorded workload. One day of hourly values ends 23 hours after its first value.
	shortest = 23 * time.Hour
	day      = 24 * time.Hour
)

// kind is a kind of history, and the name of its record.
type kind string

const (
	workloads kind = "workloads"
	scenarios kind = "scenarios"
)

// history is a demand to simulate.
type history struct {
	kind   kind
	name   string
	demand forecast.Series
	// target is what one replica sustains, in the demand's unit.
	target int64
	// rate is true if the demand is a rate over a minute; otherwise it is a gauge.
	rate bool
}

// madeScenarios returns the histories of package [demandtest].
func madeScenarios() []history {
	var out []history
	for _, s := range demandtest.Scenarios() {
		out = append(out, history{kind: scenarios, name: s.Name, demand: s.Demand(), target: scenarioTarget})
	}
	return out
}

// recordedWorkloads returns the workloads in both folders of the outcome study.
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

// laid puts a trace on the grid and scales it.
func laid(s forecast.Series) (forecast.Series, error) {
	s, err := simulate.Resample(s, workloadGrid)
	if err == nil {
		err = demandtest.Scale(s, meanReplicas*workloadTarget)
	}
	// Some times are counted from 0. The loop's anchors are multiples since the epoch, and no server runs before the epoch.
	if s.Start.Year() == 1970 {
		s.Start = demandtest.Start().Add(time.Duration(s.Start.UnixNano()))
	}
	return s, err
}

// losses prints the loss of the served quantile for each recorded workload.
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

// lossResult has the mean pinball loss of the served values, as a share of the mean demand, the same for the current demand as a forecast,
// and the share of window peaks that the served values covered. The first tenth of a history, at most a day, does not count.
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

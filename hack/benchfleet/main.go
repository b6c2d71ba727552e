// Command benchfleet measures how much batch work runs next to recorded interactive workloads on a fixed number of GPUs, for
// `make bench-fleet`: what `forewarm simulate --fleet` shows of a user's own fleet, for four groups of three recorded workloads.
//
// Every workload is scaled to a mean of 12 replicas of one GPU. Replicas start in 5 minutes, one in ten takes over 8 minutes. Batch runs take 20
// or 60 minutes. The static partition is the smallest part of the GPUs with which at most 1 % of the members' demand arrives in bad hours, in
// hindsight. The fleet has that part divided by .75, .9 and .5.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
	corefleet "github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/fleet"
)

// groups returns the workloads of each fleet: all of outcome/workloads and one more, dealt to four fleets in the order of their names.
func groups() [][]string {
	return [][]string{
		{"elb", "pool09", "sg_mid_client15"},
		{"ms_ingress04", "pool17", "sg_mid_client49"},
		{"ms_mongo01", "pool20", "sg_mid_client7"},
		{"pool06", "pool28", "sg_small_client31"},
	}
}

const (
	meanGPUs = 12
	capacity = 1000 // of a replica
	limit    = 0.01
	// unlimitedGPUs is more than any group asks for.
	unlimitedGPUs = 100_000
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchfleet:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := pflag.NewFlagSet("benchfleet", pflag.ContinueOnError)
	data := flags.String("data", os.Getenv("FOREWARM_DATA"), "folder with the recorded demand")
	dealt := flags.StringArray("group", nil, "names of a fleet's workloads, separated by commas, repeatable")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		const skipped = "skipped: FOREWARM_DATA is not set; it names the folder with recorded demand, see CONTRIBUTING.md"
		fmt.Fprintln(out, skipped)
		return nil
	}
	all, err := read(*data)
	if err != nil {
		return err
	}
	fleets := groups()
	if len(*dealt) > 0 {
		fleets = nil
		for _, names := range *dealt {
			fleets = append(fleets, strings.Split(names, ","))
		}
	}
	var rows []row
	for _, names := range fleets {
		fmt.Fprintln(progress, "playing", strings.Join(names, ", "))
		members, err := record(ctx, all, names)
		if err != nil {
			return err
		}
		measured, err := measure(ctx, members)
		if err != nil {
			return err
		}
		rows = append(rows, measured...)
	}
	return write(out, rows)
}

// read reads the workloads by their names. The priors that Forewarm ships with were learned from those of series_15s.
func read(data string) (map[string]forecast.Series, error) {
	out := map[string]forecast.Series{}
	for _, folder := range []string{"series_15s", "workloads"} {
		traces, err := demandtest.Read(filepath.Join(data, "outcome", folder))
		if err != nil {
			return nil, err
		}
		for _, t := range traces {
			out[t.Name] = t.Series
		}
	}
	return out, nil
}

// record plays workloads to Forewarm. Each begins at the first midnight of its history, and all begin on the same day.
func record(ctx context.Context, all map[string]forecast.Series, names []string) ([]fleet.Member, error) {
	const day = 24 * time.Hour
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	var out []fleet.Member
	for _, name := range names {
		s, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("no workload %s", name)
		}
		s.Values = s.Values[int(s.Start.Add(day-1).Truncate(day).Sub(s.Start)/s.Step):]
		s.Start = time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
		s.Values = slices.Clone(s.Values)
		if err := demandtest.Scale(s, meanGPUs*capacity); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r, err := compare.Record(ctx, compare.Config{
			Demand: s, Source: name, Autoscaler: name, Objective: limit, BadHours: true, Capacity: capacity,
			Lead: compare.LeadTime{Median: 5 * time.Minute, P90: 8 * time.Minute},
			HPA: hpa.Spec{
				Min: 1, Max: 100_000, Cluster: hpa.DefaultCluster(),
				Metrics: []hpa.Metric{{
					Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: capacity * 1000,
				}},
				Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
			},
		}, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, fleet.Member{Name: name, GPUs: 1, Recording: r})
	}
	return out, nil
}

// row is the result of one fleet with one length of a run.
type row struct {
	*fleet.Result

	// part is the static part by which the number of GPUs was chosen.
	part float64
	run  time.Duration
}

// measure plays a group of members on fleets of several sizes.
func measure(ctx context.Context, members []fleet.Member) ([]row, error) {
	batch := corefleet.Consumer{Name: "batch", GPUs: 1, Share: 1}
	c := fleet.Config{Members: members, Limit: limit, GPUs: unlimitedGPUs, Batch: []corefleet.Consumer{batch}}
	static, err := c.SmallestStatic()
	if err != nil {
		return nil, err
	}
	var out []row
	for _, part := range []float64{.75, .9, .5} {
		for _, length := range []time.Duration{20 * time.Minute, time.Hour} {
			c.GPUs, c.Batch[0].Run = math.Ceil(static/part), length
			r, err := fleet.Simulate(ctx, &c, nil)
			if err != nil {
				return nil, err
			}
			out = append(out, row{r, part, length})
		}
	}
	return out, nil
}

// figures of a row are the share of demand in bad hours, the batch work done compared with the static partition and with the oracle, and
// the killed batch work compared with reactive priority.
type figures struct{ badHours, more, ofOracle, killed float64 }

func (r *row) figures() figures {
	ours := r.Find(fleet.Forewarm)
	return figures{
		ours.BadHours, ours.Done/r.Find(fleet.Static).Done - 1, ours.Done / r.Find(fleet.Oracle).Done,
		ours.Killed / r.Find(fleet.Reactive).Killed,
	}
}

// write prints a table of all rows, and the worst figures of the fleets that have the static part divided by .75.
func write(out io.Writer, rows []row) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "members\tdays\tGPUs\tstatic part /\trun\tbad hours: no limit\tstatic\tfleet\t"+
		"batch: GPU-hours\tthan static\toracle\tof oracle's\tkilled: reactive\tfleet\tof reactive's\tworst hour\t")
	for i := range rows {
		r := &rows[i]
		f, ours, hour := r.figures(), r.Find(fleet.Forewarm), "none"
		if ours.Worst != nil {
			hour = fmt.Sprintf("%.0f%% late", 100*ours.Worst.Late)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%v\t%.0fm\t%.2f%%\t%.2f%%\t%.2f%%\t%.0f\t%+.0f%%\t%+.0f%%\t%.0f%%\t",
			strings.Join(r.Members, ", "), r.Hours/24, r.GPUs, r.part, r.run.Minutes(), 100*r.AloneBadHours,
			100*r.Find(fleet.Static).BadHours, 100*f.badHours, ours.Done, 100*f.more, 100*((1+f.more)/f.ofOracle-1),
			100*f.ofOracle)
		fmt.Fprintf(table, "%.0f\t%.0f\t%.1f%%\t%s\t\n", r.Find(fleet.Reactive).Killed, ours.Killed, 100*f.killed, hour)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, wanted := range []struct {
		run      time.Duration
		ofOracle float64
	}{{20 * time.Minute, 65}, {time.Hour, 55}} {
		w := figures{more: math.Inf(1), ofOracle: math.Inf(1)}
		for i := range rows {
			if r := &rows[i]; r.part == .75 && r.run == wanted.run {
				f := r.figures()
				w = figures{
					max(w.badHours, f.badHours), min(w.more, f.more),
					min(w.ofOracle, f.ofOracle), max(w.killed, f.killed),
				}
			}
		}
		const worst = "Worst group at / .75, runs of %.0fm: %.2f%% in bad hours (wanted: at most 1%%), %+.0f%% batch (at least " +
			"+25%%), %.0f%% of the oracle's (at least %.0f%%), %.1f%% of reactive's killed (at most 10%%)\n"
		fmt.Fprintf(out, worst,
			wanted.run.Minutes(), 100*w.badHours, 100*w.more, 100*w.ofOracle, wanted.ofOracle, 100*w.killed)
	}
	return nil
}

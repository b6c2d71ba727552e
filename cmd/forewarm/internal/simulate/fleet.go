package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/fleet"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// fleetFile is a GPUFleet in a file, and where the histories of its members are. The zero value means no fleet.
type fleetFile struct {
	file string
	gpus int
	// histories are the files, or the queries with --prometheus, by the names of the members.
	histories map[string]string
}

// addFleet adds the flags of a GPUFleet.
func (o *options) addFleet(flags *pflag.FlagSet) {
	flags.StringVar(&o.fleet.file, "fleet", "",
		"file with a GPUFleet to simulate: its members and batch work on a fixed number of GPUs; "+
			"--hpa then has the autoscalers of all members")
	flags.IntVar(&o.fleet.gpus, "fleet-gpus", 0, "number of GPUs of the fleet (default: the count in the file)")
	flags.Func("history",
		"`NAME=FILE` with the demand of a member of the fleet, one for each member, or NAME=QUERY with --prometheus; "+
			"of a file with several columns, the column NAME is read, or else that of --column",
		func(text string) error {
			name, from, ok := strings.Cut(text, "=")
			if !ok || name == "" || from == "" {
				return errors.New("write NAME=FILE, or NAME=QUERY with --prometheus")
			}
			if o.fleet.histories == nil {
				o.fleet.histories = map[string]string{}
			}
			if o.fleet.histories[name] != "" {
				return fmt.Errorf("member %s has two histories, keep one", name)
			}
			o.fleet.histories[name] = from
			return nil
		})
}

// validateFleet returns every problem of the flags of a fleet, and refuses flags that are for one workload.
func (o *options) validateFleet(flags *pflag.FlagSet) error {
	of, known := defaults(), pflag.NewFlagSet("fleet", pflag.ContinueOnError)
	of.history.AddFlags(known)
	of.output.AddFlags(known, "")
	of.addFleet(known)
	others, single := []string{"hpa", "lead-time", "bad-hours", "quiet"}, []string{"trace", "query"}
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(single, f.Name) || known.Lookup(f.Name) == nil && !slices.Contains(others, f.Name) {
			wrong("--%s does not apply to --fleet, leave it out", f.Name)
		}
	})
	if o.autoscaler.file == "" {
		wrong("--fleet needs --hpa FILE with the autoscalers of all members; kubectl get hpa -o yaml prints them")
	}
	if n := o.fleet.gpus; flags.Changed("fleet-gpus") && (n < 1 || n > manifest.MaxFleetGPUs) {
		wrong("--fleet-gpus %d is not from 1 to %d", n, manifest.MaxFleetGPUs)
	}
	if len(o.fleet.histories) == 0 {
		wrong("--fleet needs the history of each member: --history NAME=FILE")
	}
	for name := range o.fleet.histories {
		member := o.memberHistory(name)
		problems = append(problems, member.Validate())
	}
	return errors.Join(problems...)
}

// memberHistory returns where the history of a member is.
func (o *options) memberHistory(name string) history.Options {
	out, from := o.history, o.fleet.histories[name]
	if o.history.Prometheus.URL != "" {
		out.Query = from
		return out
	}
	out.Trace = from
	if columns, err := trace.FileColumns(from); err == nil && len(columns) > 1 && slices.Contains(columns, name) {
		out.Column = name
	}
	return out
}

// runFleet simulates a fleet, and writes the report.
func runFleet(ctx context.Context, o *options, t terminal) error {
	c, configs, err := o.readFleet(ctx)
	if err != nil {
		return err
	}
	doubt, err := o.readHistories(ctx, t, configs)
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	got, err := PlayFleet(ctx, t.bar, c, configs)
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted: there are no results before all policies are simulated")
	}
	if err != nil {
		return cmdline.IfInterrupted(ctx, err)
	}
	got.Doubt = doubt
	if o.output.ForScripts() {
		return errors.Join(o.output.Write(t.out, got), history.Doubtful(doubt))
	}
	width, _ := cmdline.Columns(t.out, cmdline.Page)
	_, err = io.WriteString(t.out, got.Text(width))
	return errors.Join(err, history.Doubtful(doubt))
}

// readFleet returns the fleet without the recordings of its members, and the members without their histories.
func (o *options) readFleet(ctx context.Context) (*fleet.Config, []compare.Config, error) {
	text, err := cmdline.ReadFile(ctx, o.fleet.file, manifest.MaxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("the fleet: %w", err)
	}
	all, err := manifest.ReadFleets(o.fleet.file, text)
	if err != nil {
		return nil, nil, err
	}
	if len(all) > 1 {
		return nil, nil, fmt.Errorf("%s: %d GPUFleets: keep the one to simulate", o.fleet.file, len(all))
	}
	one := &all[0]
	gpus := cmp.Or(o.fleet.gpus, int(one.Object.Spec.GPUs.Count))
	out := &fleet.Config{Limit: float64(o.badHours), GPUs: float64(gpus)}
	if out.GPUs == 0 {
		return nil, nil, fmt.Errorf("%s: GPUFleet %s has no count: set --fleet-gpus", o.fleet.file, one.Object.Name)
	}
	for i := range one.Batch {
		out.Batch = append(out.Batch, one.Batch[i].Consumer)
	}
	if text, err = cmdline.ReadFile(ctx, o.autoscaler.file, manifest.MaxFile); err != nil {
		return nil, nil, fmt.Errorf("the autoscalers: %w", err)
	}
	autoscalers, err := autoscaler.Read(o.autoscaler.file, text)
	if err != nil {
		return nil, nil, err
	}
	var configs []compare.Config
	for _, m := range one.Members {
		of := o.config().Config
		of.Source = m.Forecast
		member := snapshot.Key{Namespace: one.Object.Namespace, Name: m.Forecast}
		if err = readAutoscaler(autoscalers, member, &of); err != nil {
			return nil, nil, err
		}
		configs = append(configs, of)
		out.Members = append(out.Members, fleet.Member{Name: m.Forecast, GPUs: m.GPUs})
	}
	return out, configs, nil
}

// readAutoscaler sets the autoscaler of a member: the one that reads its Forecast, or else the one with its name.
func readAutoscaler(all []autoscaler.Manifest, member snapshot.Key, c *compare.Config) error {
	at := slices.IndexFunc(all, func(m autoscaler.Manifest) bool {
		return slices.ContainsFunc(autoscaler.References(&m.Autoscaler), func(r manifest.Reference) bool {
			_, ok := r.As(member)
			return ok
		})
	})
	if at < 0 {
		at = slices.IndexFunc(all, func(m autoscaler.Manifest) bool { return m.Name == member.Name })
	}
	if at < 0 {
		return fmt.Errorf("%s: no autoscaler of member %s: add the one that reads Forecast %s, or one with the name %s",
			all[0].File, member.Name, member, member.Name)
	}
	metric, err := all[at].SelectMetric("", 0)
	if err == nil {
		c.HPA, c.Autoscaler = all[at].SpecOf(metric), all[at].Ref()
	}
	return err
}

// PlayFleet plays the members to Forewarm, each with its configuration, and then all of them together. It shows the progress on the bar.
func PlayFleet(
	ctx context.Context, bar *cmdline.ProgressBar, c *fleet.Config, configs []compare.Config,
) (*fleet.Result, error) {
	defer bar.End()
	total := len(fleet.Policies())
	for i := range configs {
		total += compare.RecordedDays(configs[i].Demand)
	}
	bar.Begin("simulating", total)
	for i := range configs {
		m := &c.Members[i]
		bar.SetTask("simulating Forewarm on " + m.Name)
		var err error
		if m.Recording, err = compare.Record(ctx, configs[i], func() { bar.Add(1) }); err != nil {
			return nil, fmt.Errorf("member %s: %w", m.Name, err)
		}
	}
	return fleet.Simulate(ctx, c, func(policy string) {
		bar.SetTask("simulating " + policy)
		bar.Add(1)
	})
}

// readHistories reads the demand of all members, and cuts it to the time that all have in common. doubt is not empty if some of it looks
// like no demand.
func (o *options) readHistories(ctx context.Context, t terminal, configs []compare.Config) (doubt string, err error) {
	unused := maps.Clone(o.fleet.histories)
	for i := range configs {
		name := configs[i].Source
		if o.fleet.histories[name] == "" {
			err := fmt.Errorf("no history of member %s is given: set --history %s=FILE", name, name)
			return "", cmdline.UsageError(err)
		}
		delete(unused, name)
	}
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		return "", cmdline.UsageError(fmt.Errorf("--history %s=…: the fleet has no member %s", name, name))
	}
	var doubts []string
	for i := range configs {
		options := o.memberHistory(configs[i].Source)
		h, err := history.Read(ctx, &options, t.in, t.now(), t.bar)
		if err != nil {
			return "", fmt.Errorf("the history of %s: %w", configs[i].Source, err)
		}
		if h.Doubt != "" {
			doubts = append(doubts, "Member "+configs[i].Source+": "+h.Doubt)
		}
		configs[i].Demand = h.Series
	}
	return strings.Join(doubts, " "), cutToCommon(configs)
}

// firstKnown returns the time of the first value at or after a time that is within the series; the end of the series if there is none.
func firstKnown(s *forecast.Series, from time.Time) time.Time {
	i := int(from.Sub(s.Start) / s.Step)
	if i >= s.Len() || !math.IsNaN(s.Values[i]) {
		return from
	}
	for i < s.Len() && math.IsNaN(s.Values[i]) {
		i++
	}
	return s.TimeAt(i)
}

// cutToCommon cuts the histories to the time that all have in common. It begins at a time at which all have a value, and a step of the history
// with the longest steps begins.
func cutToCommon(configs []compare.Config) error {
	start, end := configs[0].Demand.Start, configs[0].Demand.End()
	newest, oldest := configs[0].Source, configs[0].Source // The members whose histories start last and end first.
	byStep := func(a, b compare.Config) int { return cmp.Compare(a.Demand.Step, b.Demand.Step) }
	coarsest := slices.MaxFunc(configs, byStep).Demand
	for at := start.Add(-1); at.Before(start); {
		at = start
		if off := start.Sub(coarsest.Start) % coarsest.Step; off > 0 {
			start = start.Add(coarsest.Step - off)
		}
		for i := range configs {
			s := &configs[i].Demand
			if s.Start.After(start) {
				start, newest = s.Start, configs[i].Source
			}
			if known := firstKnown(s, start); known.After(start) {
				start, newest = known, configs[i].Source
			}
			if s.End().Before(end) {
				end, oldest = s.End(), configs[i].Source
			}
		}
	}
	if err := fleet.CheckLength(end.Sub(start)); err != nil {
		from, to := start.UTC().Format("2006-01-02 15:04"), end.UTC().Format("2006-01-02 15:04")
		if newest == oldest {
			return fmt.Errorf("%w; the history of %s is from %s to %s UTC", err, newest, from, to)
		}
		const apart = "%w; the history of %s starts at %s, and that of %s ends at %s UTC"
		return fmt.Errorf(apart, err, newest, from, oldest, to)
	}
	for i := range configs {
		s := &configs[i].Demand
		first := int(start.Sub(s.Start) / s.Step)
		s.Values, s.Start = s.Values[first:min(s.Len(), first+int(end.Sub(start)/s.Step))], start
	}
	return nil
}

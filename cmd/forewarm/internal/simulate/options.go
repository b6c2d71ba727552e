package simulate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/signal"
)

// options has the values of the flags.
type options struct {
	history   history.Options
	workload  history.Workload
	pool      poolFile
	fleet     fleetFile
	asked     compare.Asked
	forecasts bool

	autoscaler  autoscalerFile
	node        leadFlag
	events      string
	lead        leadFlag
	measured    measuredLead
	capacity    quantityFlag
	late        shareFlag
	badHours    shareFlag
	deferrable  shareFlag
	deadline    time.Duration
	wait        time.Duration
	gpus, price float64
	output      cmdline.Output
	quiet       bool
	html        string
}

// defaults returns the options of an empty command line. If no lead time is given, it is marked as assumed.
func defaults() *options {
	return &options{
		history: history.Defaults(), workload: history.Workload{Trust: signal.DefaultTrust()},
		lead:     leadFlag{Median: 5 * time.Minute, Known: assumed},
		badHours: compare.DefaultBadHours, wait: sim.DefaultWait, gpus: defaultGPUs,
	}
}

// formerLate is the former name of --late, which scripts may still use.
const formerLate = "objective"

// defaultGPUs is the default number of GPUs of a replica.
const defaultGPUs = 1

// assumed is the source of a lead time that was not given.
const assumed = "assumed"

func (o *options) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	o.history.AddFlags(flags)
	flags.StringVar(&o.autoscaler.file, "hpa", "",
		"file with the HorizontalPodAutoscaler (autoscaling/v2) or the ScaledObject, as YAML or JSON")
	flags.StringVar(&o.autoscaler.name, "hpa-name", "", "name of the autoscaler, if the file has several")
	flags.StringVar(&o.autoscaler.metric, "metric", "",
		"name of the metric or of the KEDA trigger to simulate, if the autoscaler has several")
	flags.Var(&o.lead, "lead-time", "time that a new replica takes to become ready, for example 5m; "+
		"or 5m,p90=8m: half of the replicas start within 5m, one in ten takes longer than 8m")
	flags.StringVar(&o.measured.of, "lead-time-of", "",
		"NAMESPACE/NAME of a running Forecast whose measured lead time replaces --lead-time")
	o.measured.AddFlags(flags)
	flags.Var(&o.capacity, "replica-capacity",
		"how much demand a replica sustains, in the metric's unit (default: the autoscaler's target)")
	flags.Var(&o.badHours, "bad-hours",
		"the objective: share of the demand that may arrive in bad hours; a bad hour is a clock hour (UTC) in "+
			"which more than a tenth of the demand waits longer than --wait")
	flags.Var(&o.late, "late", "instead of --bad-hours: share of the demand that may wait longer than --wait")
	flags.Var(&o.late, formerLate, "the former name of --late")
	if err := flags.MarkHidden(formerLate); err != nil {
		panic(err) // The name belongs to a flag.
	}
	flags.DurationVar(&o.wait, "wait", o.wait, "how long demand may wait before it counts as late")
	flags.Var(&o.deferrable, "deferrable",
		"share of the demand that may wait until --deadline while other demand is served first")
	const deadline = 10 * time.Minute
	flags.DurationVar(&o.deadline, "deadline", deadline, "how long deferrable demand may wait")
	flags.Float64Var(&o.gpus, "gpus", o.gpus, "GPUs per replica; 0.25 is a quarter of a GPU")
	flags.Float64Var(&o.price, "gpu-price", 0,
		"price of a GPU in dollars per hour (default: the report shows no costs in dollars)")
	flags.BoolVar(&o.forecasts, "forecasts", false,
		"also report how accurate the forecasts are, compared with simple rules; works without --hpa")
	flags.BoolVar(&o.asked.WhatIf, "what-if", false,
		"also simulate Forewarm with shorter lead times and longer waits, and print what each of them saves")
	flags.DurationVar(&o.asked.Wake.Time, "wake-time", 0,
		"also simulate servers that sleep when idle and wake up within this time, for example 5s")
	flags.IntVar(&o.asked.Wake.Spare, "awake-spare", 0,
		"with --wake-time, also simulate a policy without a forecast that keeps this many spare servers awake")
	flags.StringVar(&o.events, "events", "",
		"file with Forecasts or DemandEvents whose events Forewarm knows in advance")
	o.addScenarios(flags)
	o.addPool(flags)
	o.addFleet(flags)
	o.output.AddFlags(flags, "print every number")
	flags.StringVar(&o.html, "html", "", "file to write the report to as a self-contained HTML page; "+
		"- prints the page instead of the text")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
	o.workload.AddFlags(flags, "(default: from --hpa)")
}

// validateAll returns every problem that the flags alone show.
func (o *options) validateAll(flags *pflag.FlagSet) error {
	switch {
	case o.fleet.file != "":
		return o.validateFleet(flags)
	case o.fleet.gpus != 0 || len(o.fleet.histories) > 0:
		return errors.New("--fleet-gpus and --history are for --fleet FILE, which is missing")
	}
	return errors.Join(o.validate(), o.validateObjective(flags), o.validateAlone(flags))
}

// validate returns every problem that the flags alone show, except those of the objective.
func (o *options) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.autoscaler.file == "" && !o.forecasts {
		wrong(noAutoscaler)
	}
	o.history.QueryLater = o.workload.Preset != "" || o.autoscaler.file != ""
	if o.wait <= 0 || o.wait > time.Hour {
		wrong("--wait %s is not above 0 and up to 1h, write for example 30s", o.wait)
	}
	if o.deadline < time.Minute || o.deadline > 24*time.Hour {
		wrong("--deadline %s is not from 1m to 24h, write for example 10m", o.deadline)
	}
	if !(o.gpus > 0) || math.IsInf(o.gpus, 0) {
		wrong("--gpus %v is not above 0, write for example 4, or 0.25", o.gpus)
	}
	if !(o.price >= 0) || math.IsInf(o.price, 0) {
		wrong("--gpu-price %v is not 0 or more, write for example 3.06", o.price)
	}
	if o.html == cmdline.Stdout && o.output.ForScripts() {
		wrong("--html - and -o %s both print to stdout, keep one or name a file", &o.output)
	}
	if err := cmdline.CheckWritable(o.html); o.html != "" && err != nil {
		wrong("--html %s: %w", o.html, err)
	}
	if len(o.asked.Shapes)+len(o.asked.Variants) > 0 && o.price == 0 {
		wrong("--shape and --variant need --gpu-price, the price of the GPU that you use today")
	}
	if o.workload.Preset == "" && (o.workload.Target != "" || o.workload.Namespace != "") {
		wrong("--target and --namespace are for --preset NAME, which is missing")
	}
	problems = append(problems, o.history.Validate(), o.workload.Validate(&o.history), o.validatePool(),
		o.measured.validate(o.lead.Known != assumed), validateWake(o.asked.Wake))
	return errors.Join(problems...)
}

// validateObjective rejects two objectives.
func (o *options) validateObjective(flags *pflag.FlagSet) error {
	if o.late > 0 && flags.Changed("bad-hours") {
		return errors.New("--late and --bad-hours exclude each other: keep one")
	}
	return nil
}

func validateWake(w compare.Wake) error {
	if w.Time < 0 || w.Time > time.Hour || w.Spare < 0 || w.Spare > 0 && w.Time == 0 {
		return fmt.Errorf("--wake-time %s with --awake-spare %d: expected a time up to 1h, and 0 or more spare servers",
			w.Time, w.Spare)
	}
	return nil
}

// config returns the configuration that the flags specify.
func (o *options) config() config {
	out := config{
		Config: compare.Config{
			Lead:      compare.LeadTime(o.lead),
			Capacity:  float64(o.capacity),
			Objective: float64(o.badHours),
			BadHours:  true,
			Wait:      o.wait,
			GPUs:      o.gpus,
			GPUPrice:  o.price, TrustInput: o.history.TrustInput,
		},
		asked:      o.asked,
		forecasts:  o.forecasts,
		autoscaler: o.autoscaler,
		events:     o.events,
		pool:       o.pool,
		leadOf:     o.measured.of,
	}
	if o.late > 0 {
		out.Objective, out.BadHours = float64(o.late), false
	}
	if o.deferrable > 0 {
		out.Deferrable, out.Deadline = float64(o.deferrable), o.deadline
	}
	if o.node.Known != "" {
		node := compare.LeadTime(o.node)
		out.Node = &node
	}
	return out
}

// measuredLead specifies that the lead time comes from a running Forewarm.
type measuredLead struct {
	cmdline.Connection

	of string // NAMESPACE/NAME of the Forecast; empty if none is given.
}

// validate returns every problem; given is true if --lead-time is set.
func (m *measuredLead) validate(given bool) error {
	if m.of == "" {
		if m.Server != "" || m.Kubeconfig != "" || m.Context != "" {
			return errors.New("--server, --kubeconfig and --context are for --lead-time-of NAMESPACE/NAME, which " +
				"is missing")
		}
		return nil
	}
	problems := []error{m.Validate()}
	if namespace, name, ok := strings.Cut(m.of, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--lead-time-of %.200q is not a Forecast, write NAMESPACE/NAME", m.of))
	}
	if given {
		problems = append(problems, errors.New("--lead-time contradicts --lead-time-of, keep one"))
	}
	return errors.Join(problems...)
}

// addPool adds the flags of a WarmPool.
func (o *options) addPool(flags *pflag.FlagSet) {
	flags.StringVar(&o.pool.file, "warm-pool", "",
		"file with a WarmPool to simulate, with its own budget and with other budgets; "+
			"--lead-time is then the start time of a pod on an available node")
	flags.StringVar(&o.pool.name, "warm-pool-name", "", "name of the WarmPool, if the file has several")
	flags.StringVar(
		&o.pool.member,
		"member",
		"",
		"member of the pool that the history belongs to, if the pool has several",
	)
	flags.Var(&o.node, "node-lead-time", "time that a new node takes to become ready, for example 4m, or 4m,p90=6m; "+
		"if neither this flag nor the pool gives it, nodes are assumed to be always available")
}

// validatePool returns every problem with the flags of a WarmPool.
func (o *options) validatePool() error {
	if o.pool.file == "" && (o.pool.name != "" || o.pool.member != "") {
		return errors.New("--warm-pool-name and --member are for --warm-pool FILE, which is missing")
	}
	return nil
}

const noAutoscaler = "no autoscaler is given: set --hpa FILE; kubectl get hpa NAME -o yaml prints one"

// validateAlone rejects flags that need an autoscaler if the forecasts are judged without one.
func (o *options) validateAlone(flags *pflag.FlagSet) error {
	if !o.forecasts || o.autoscaler.file != "" {
		return nil
	}
	alone, of := pflag.NewFlagSet("alone", pflag.ContinueOnError), defaults()
	of.history.AddFlags(alone)
	of.workload.AddFlags(alone, "")
	of.measured.AddFlags(alone)
	of.output.AddFlags(alone, "")
	var others []string
	flags.Visit(func(f *pflag.Flag) {
		more := []string{"forecasts", "lead-time", "lead-time-of", "quiet"}
		if alone.Lookup(f.Name) == nil && !slices.Contains(more, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if others == nil {
		return nil
	}
	return fmt.Errorf("%s: %s", strings.Join(others, ", "), noAutoscaler)
}

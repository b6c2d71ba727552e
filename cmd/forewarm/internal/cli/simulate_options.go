package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspect"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// simulateOptions are the flags.
type simulateOptions struct {
	history  history.Options
	pool     warmPool
	shapes   []compare.Shape
	variants []compare.Variant

	hpa, name, metric string
	events            string
	lead              leadFlag
	measured          measuredLead
	capacity          quantityFlag
	late              shareFlag
	badHours          shareFlag
	deferrable        shareFlag
	deadline          time.Duration
	wait              time.Duration
	gpus, price       float64
	forecasts         bool
	whatIf            bool
	wake              compare.Wake
	output            cmdline.Output
	quiet             bool
	html              string
}

// simulateDefaults are those of an empty command line. The lead time is said to be assumed where none is given.
func simulateDefaults() *simulateOptions {
	return &simulateOptions{
		history: history.Defaults(), lead: leadFlag{Median: 5 * time.Minute, Known: assumed},
		badHours: compare.DefaultBadHours, wait: sim.DefaultWait, gpus: defaultGPUs,
	}
}

// formerLate is the former name of --late, which scripts may still use.
const formerLate = "objective"

// defaultGPUs are those of a replica.
const defaultGPUs = 1

// assumed is the source of a lead time that was not given.
const assumed = "assumed"

func (o *simulateOptions) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	o.history.AddFlags(flags)
	flags.StringVar(&o.hpa, "hpa", "",
		"file with the HorizontalPodAutoscaler (autoscaling/v2) or ScaledObject, YAML or JSON")
	flags.StringVar(&o.name, "hpa-name", "", "name of the autoscaler, if the file has several")
	flags.StringVar(&o.metric, "metric", "", "name of its metric, or of KEDA's trigger, if it scales on several")
	flags.Var(&o.lead, "lead-time", "time from \"more replicas\" to \"ready\", for example 5m; "+
		"or 5m,p90=8m: half of the starts within 5m, one in ten over 8m")
	flags.StringVar(&o.measured.of, "lead-time-of", "", "NAMESPACE/NAME of a running Forecast: use the lead time that "+
		"Forewarm measures on its pods, instead of --lead-time")
	o.measured.AddFlags(flags)
	flags.Var(&o.capacity, "replica-capacity",
		"what a replica sustains, in the metric's unit (default the autoscaler's target)")
	flags.Var(
		&o.badHours,
		"bad-hours",
		"the objective: how much of the demand may arrive in bad hours, UTC clock hours in "+
			"which more than a tenth waits longer than --wait",
	)
	flags.Var(&o.late, "late", "instead of --bad-hours: how much of the demand may wait longer than --wait")
	flags.Var(&o.late, formerLate, "the former name of --late")
	if err := flags.MarkHidden(formerLate); err != nil {
		panic(err) // Its name is that of a flag.
	}
	flags.DurationVar(&o.wait, "wait", o.wait, "how long demand may wait without being late")
	flags.Var(&o.deferrable, "deferrable", "how much of the demand may wait until --deadline, behind the rest")
	flags.DurationVar(&o.deadline, "deadline", 10*time.Minute, "how long it may wait") //nolint:mnd // As the help says.
	flags.Float64Var(&o.gpus, "gpus", o.gpus, "GPUs of a replica; 0.25 is a quarter of one")
	flags.Float64Var(&o.price, "gpu-price", 0, "price of a GPU in dollars an hour (default: no dollars are shown)")
	flags.BoolVar(&o.forecasts, "forecasts", false,
		"also report how accurate the forecasts are, compared with simple rules; needs no --hpa")
	flags.BoolVar(&o.whatIf, "what-if", false,
		"also simulate Forewarm with shorter lead times and longer waits, and print what each saves")
	flags.DurationVar(
		&o.wake.Time,
		"wake-time",
		0,
		"also simulate servers that sleep and wake up within this time, for example 5s",
	)
	flags.IntVar(
		&o.wake.Spare,
		"awake-spare",
		0,
		"with --wake-time, also a policy without a forecast: so many awake beyond the demand",
	)
	flags.StringVar(&o.events, "events", "", "file with a Forecast, whose events Forewarm knows beforehand")
	o.addScenarios(flags)
	o.pool.add(flags)
	o.output.AddFlags(flags, "print every number")
	flags.StringVar(&o.html, "html", "", "file for the report as one self-contained page; "+
		"- prints the page instead of the text")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "do not show progress")
}

// validate returns every problem except those of the history.
func (o *simulateOptions) validate() error {
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.hpa == "" && !o.forecasts {
		wrong(noAutoscaler)
	}
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
	if len(o.shapes)+len(o.variants) > 0 && o.price == 0 {
		wrong("--shape and --variant need --gpu-price: what a GPU costs without them")
	}
	problems = append(
		problems,
		o.pool.validate(),
		o.measured.validate(o.lead.Known != assumed),
		validateWake(o.wake),
	)
	return errors.Join(problems...)
}

// validateObjective refuses two objectives.
func (o *simulateOptions) validateObjective(flags *pflag.FlagSet) error {
	if o.late > 0 && flags.Changed("bad-hours") {
		return errors.New("--late and --bad-hours exclude each other: keep one")
	}
	return nil
}

func validateWake(w compare.Wake) error {
	if w.Time < 0 || w.Time > time.Hour || w.Spare < 0 || w.Spare > 0 && w.Time == 0 {
		return fmt.Errorf(
			"--wake-time %s with --awake-spare %d: want a time up to 1h, and 0 or more with it",
			w.Time,
			w.Spare,
		)
	}
	return nil
}

// config is the comparison that is asked for, but for the history and the autoscaler.
func (o *simulateOptions) config() compare.Config {
	out := compare.Config{
		Lead: compare.LeadTime(o.lead), Capacity: float64(o.capacity), Objective: float64(o.badHours), BadHours: true,
		Wait: o.wait, GPUs: o.gpus, GPUPrice: o.price,
	}
	if o.late > 0 {
		out.Objective, out.BadHours = float64(o.late), false
	}
	if o.deferrable > 0 {
		out.Deferrable, out.Deadline = float64(o.deferrable), o.deadline
	}
	return out
}

// leadFlag is a lead time as a flag: 5m, or 5m,p90=8m.
type leadFlag compare.LeadTime

// String is the flag as it is written.
func (l *leadFlag) String() string {
	if *l == (leadFlag{}) {
		return ""
	}
	if l.P90 == 0 {
		return l.Median.String()
	}
	return l.Median.String() + ",p90=" + l.P90.String()
}

// Type is the word for it in the help.
func (*leadFlag) Type() string { return "duration[,p90=duration]" }

// Set reads it.
func (l *leadFlag) Set(text string) error {
	const most = 24 * time.Hour
	wrong := errors.New("write for example 5m, or 5m,p90=8m with a p90 that is no shorter, up to 24h")
	median, rest, more := strings.Cut(text, ",")
	read := leadFlag{Known: "given"}
	var err error
	read.Median, err = time.ParseDuration(strings.TrimSpace(median))
	if err != nil || read.Median <= 0 || read.Median > most {
		return wrong
	}
	if more {
		key, value, _ := strings.Cut(rest, "=")
		read.P90, err = time.ParseDuration(strings.TrimSpace(value))
		if err != nil || strings.TrimSpace(key) != "p90" || read.P90 < read.Median || read.P90 > most {
			return wrong
		}
	}
	*l = read
	return nil
}

// shareFlag is a part of the demand as a flag: 1%.
type shareFlag float64

// String is the flag as it is written.
func (s *shareFlag) String() string { return strconv.FormatFloat(100*float64(*s), 'g', 6, 64) + "%" }

// Type is the word for it in the help.
func (*shareFlag) Type() string { return "percentage" }

// Set reads it. Without the sign it is not known whether 1 is everything or a hundredth.
func (s *shareFlag) Set(text string) error {
	number, isPercentage := strings.CutSuffix(strings.TrimSpace(text), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !isPercentage || err != nil || !(percent > 0 && percent < 100) {
		return errors.New("write a percentage above 0% and below 100%, for example 1%")
	}
	*s = shareFlag(percent / 100)
	return nil
}

// quantityFlag is an amount as an HPA writes it: 64, 0.5 or 4k.
type quantityFlag float64

// String is empty where none is given.
func (q *quantityFlag) String() string {
	if *q == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*q), 'f', -1, 64)
}

// Type is the word for it in the help.
func (*quantityFlag) Type() string { return "quantity" }

// Set reads it.
func (q *quantityFlag) Set(text string) error {
	wrong := errors.New("write what one replica sustains, above 0, for example 64, 0.5 or 4k")
	if !v1alpha1.BoundedQuantity(text) {
		return wrong
	}
	read, err := resource.ParseQuantity(text)
	if err != nil {
		return wrong
	}
	value := read.AsApproximateFloat64()
	const least, most = 0.001, math.MaxInt64 / 1000
	if !(value >= least && value < most) {
		return fmt.Errorf("want %v to %.3g, in a larger or smaller unit", least, float64(most))
	}
	*q = quantityFlag(value)
	return nil
}

// measuredLead is a lead time as a forewarm that runs knows it.
type measuredLead struct {
	inspect.Connection

	of string // NAMESPACE/NAME of the Forecast; empty for none
}

// validate returns every problem; given is true if --lead-time is set.
func (m *measuredLead) validate(given bool) error {
	if m.of == "" {
		if m.Server != "" || m.Kubeconfig != "" || m.Context != "" {
			return errors.New(
				"--server, --kubeconfig and --context are for --lead-time-of NAMESPACE/NAME, which is missing",
			)
		}
		return nil
	}
	problems := []error{m.Validate()}
	if namespace, name, ok := strings.Cut(m.of, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--lead-time-of %.200q is no Forecast, write NAMESPACE/NAME", m.of))
	}
	if given {
		problems = append(problems, errors.New("--lead-time excludes --lead-time-of, keep one"))
	}
	return errors.Join(problems...)
}

// read replaces the lead time by that of the Forecast, where one is named. What forewarm reckons with is a high quantile of
// what it saw, so every replica is taken to need as long.
func (m *measuredLead) read(ctx context.Context, lead *compare.LeadTime) error {
	if m.of == "" {
		return nil
	}
	client, err := m.Connect(ctx, "simulate")
	if err != nil {
		return fmt.Errorf("--lead-time-of %s: %w", m.of, err)
	}
	namespace, name, _ := strings.Cut(m.of, "/")
	outlook, _, err := client.Outlook(ctx, namespace, name)
	if err != nil {
		return fmt.Errorf("--lead-time-of %s: %w", m.of, err)
	}
	known := outlook.Status.LeadTime
	if known.Duration.Duration <= 0 {
		return fmt.Errorf("--lead-time-of %s: its lead time is not known yet, set --lead-time instead", m.of)
	}
	*lead = compare.LeadTime{Median: known.Duration.Duration, Known: "of Forecast " + m.of}
	if known.Source != "" {
		lead.Known += ": " + known.Source
	}
	return nil
}

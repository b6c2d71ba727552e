package cli

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// options are the flags.
type simulateOptions struct {
	history history.Options
	fleet   fleetFlags
	pool    warmPool

	hpa, name, metric string
	lead              leadFlag
	measured          measuredLead
	capacity          quantityFlag
	objective         shareFlag
	wait              time.Duration
	gpus, price       float64
	whatIf            bool
	output            cmdline.Output
	quiet             bool
	html              string
}

// defaults are those of an empty command line. The lead time is said to be assumed where none is given.
func simulateDefaults() *simulateOptions {
	return &simulateOptions{
		history: history.Defaults(), lead: leadFlag{Median: 5 * time.Minute, Known: assumed},
		objective: 0.01, wait: sim.DefaultWait, gpus: defaultGPUs,
	}
}

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
	flags.Var(&o.objective, "objective", "how much of the demand may wait longer than --wait")
	flags.DurationVar(&o.wait, "wait", o.wait, "how long demand may wait without being late")
	flags.Float64Var(&o.gpus, "gpus", o.gpus, "GPUs of a replica; 0.25 is a quarter of one")
	flags.Float64Var(&o.price, "gpu-price", 0, "price of a GPU in dollars an hour (default: no dollars are shown)")
	flags.BoolVar(&o.whatIf, "what-if", false,
		"also simulate Forewarm with shorter lead times and longer waits, and print what each saves")
	o.fleet.Add(flags)
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
	if o.hpa == "" {
		wrong("no autoscaler is given: set --hpa FILE; kubectl get hpa NAME -o yaml prints one")
	}
	if o.wait <= 0 || o.wait > time.Hour {
		wrong("--wait %s is not above 0 and up to 1h, write for example 30s", o.wait)
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
	_, err := o.fleet.Parse(o.price)
	return errors.Join(append(problems, err, o.pool.validate(), o.measured.validate(o.lead.Known != assumed))...)
}

// config is the comparison that is asked for, but for the history and the autoscaler.
func (o *simulateOptions) config() compare.Config {
	return compare.Config{
		Lead: compare.LeadTime(o.lead), Capacity: float64(o.capacity), Objective: float64(o.objective), Wait: o.wait,
		GPUs: o.gpus, GPUPrice: o.price,
	}
}

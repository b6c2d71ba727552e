package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/doctor"
	"github.com/forewarm/forewarm/pkg/source/prometheus"
)

// The command "doctor" says what is wrong with a Forewarm in a cluster, and how to mend it.

const doctorAbout = `Doctor says what is wrong with a Forewarm in a cluster, and how to mend it. It checks its replicas and their leader, the
CRDs, the API groups and their certificates, the rights of its account, a second Forewarm, clocks, the state of each
Forecast and WarmPool, and each HPA on a Forecast, as "forewarm explain" does.

With --prometheus it also asks that Prometheus: how long the history of each Forecast is, its gaps, missing or doubled
labels, kube-state-metrics, and demand that stays at 0. The URL is one that you can reach: Forewarm's own is often
reached by "kubectl port-forward" only.

It changes nothing, and reads with your own rights. What you may not read is named. It reads the Secret of Forewarm's
certificate authority to compare certificates; the key in it is neither used nor shown.

With --wait it repeats the checks until there is no error, for pipelines.

Exit codes:
  0  no errors; there may be warnings
  1  wrong usage, or the cluster cannot be reached
  3  at least one error
  4  no errors, but something could not be checked`

const doctorExamples = `  forewarm doctor
  forewarm doctor --wait=10m                     # after an installation, in a pipeline
  forewarm doctor --prometheus http://127.0.0.1:9090
  forewarm doctor --json | jq '.findings[] | select(.level == "error")'`

// doctorOptions are the flags.
type doctorOptions struct {
	cmdline.Cluster

	namespace  string
	wait       time.Duration
	prometheus prometheus.Config
	output     cmdline.Output
}

// defaultWait is that of --wait without a time, of the flag's own form.
const defaultWait = "5m"

// newDoctor is the command "doctor".
func newDoctor() *cobra.Command {
	o := doctorOptions{prometheus: prometheus.Config{Timeout: 30 * time.Second}}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Say what is wrong with an installation, and how to mend it",
		Long:    doctorAbout,
		Example: doctorExamples,
		Args:    cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.addClusterFlags(flags)
	flags.DurationVar(&o.wait, "wait", 0, "repeat the checks until there is no error, for at most this long")
	flags.Lookup("wait").NoOptDefVal = defaultWait
	flags.StringVar(&o.prometheus.URL, "prometheus", "",
		"Prometheus of Forewarm, as you reach it, to check the history in")
	flags.DurationVar(&o.prometheus.Timeout, "query-timeout", o.prometheus.Timeout,
		"how long the Prometheus may take for one query")
	cmdline.AddPrometheusFlags(flags, &o.prometheus)
	return cmd
}

// addClusterFlags adds the flags of all that reads an installation.
func (o *doctorOptions) addClusterFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.namespace, "namespace", "n", "forewarm-system", "namespace that Forewarm is installed in")
	o.output.AddFlags(flags, "print the findings")
	o.AddFlags(flags)
}

// validate returns every problem of a command line.
func (o *doctorOptions) validate() error {
	problems := []error{o.Validate()}
	if o.namespace == "" {
		problems = append(problems, errors.New("--namespace is empty, write for example forewarm-system"))
	}
	if o.wait < 0 {
		problems = append(problems, fmt.Errorf("--wait %s is negative, write for example --wait=5m", o.wait))
	}
	if o.prometheus.Timeout <= 0 {
		problems = append(problems,
			fmt.Errorf("--query-timeout %s is not positive, write for example 30s", o.prometheus.Timeout))
	}
	if o.prometheus.URL != "" {
		problems = append(problems, o.prometheus.Validate(), cmdline.CheckPrometheus(&o.prometheus))
	}
	return errors.Join(problems...)
}

// runTimeout bounds one run of all checks; pause is the time between two runs of --wait.
const (
	runTimeout  = 5 * time.Minute
	doctorPause = 5 * time.Second
)

// doctor is one for the cluster of the flags.
func (o *doctorOptions) doctor(ctx context.Context) (*doctor.Doctor, error) {
	config, namespace, err := o.Config(ctx, "doctor")
	if err != nil {
		return nil, err
	}
	return doctor.New(doctor.Config{
		Cluster:    config,
		Namespace:  o.namespace,
		Elsewhere:  namespace,
		Prometheus: o.prometheus,
		Now:        time.Now,
	})
}

func (o *doctorOptions) run(ctx context.Context, out, messages io.Writer) error {
	d, err := o.doctor(ctx)
	if err != nil {
		return err
	}
	report, err := o.examine(ctx, d, messages)
	if err != nil {
		return err
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, report)
	} else {
		err = write(out, report)
	}
	return errors.Join(err, reportError(report))
}

// examine runs the checks once, or with --wait until there is no error.
func (o *doctorOptions) examine(ctx context.Context, d *doctor.Doctor, messages io.Writer) (doctor.Report, error) {
	until, said := time.Now().Add(o.wait), ""
	for {
		report, err := examineOnce(ctx, d)
		if ctx.Err() != nil {
			return report, cmdline.WithExitCode(cmdline.Interrupted, context.Cause(ctx))
		}
		if err == nil && report.Count(doctor.Error) == 0 || time.Now().Add(doctorPause).After(until) {
			return report, err
		}
		if waits := waitsFor(report, err); waits != said {
			said = waits
			fmt.Fprintf(messages, "waiting: %s\n", waits)
		}
		select {
		case <-ctx.Done():
			return report, cmdline.WithExitCode(cmdline.Interrupted, context.Cause(ctx))
		case <-time.After(doctorPause):
		}
	}
}

func examineOnce(ctx context.Context, d *doctor.Doctor) (doctor.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	return d.Examine(ctx)
}

// reportError is the error, with its exit code, that a report amounts to.
func reportError(r doctor.Report) error {
	if n := r.Count(doctor.Error); n > 0 {
		return cmdline.WithExitCode(cmdline.Findings, fmt.Errorf("%s found", humanize.Plural(n, "error")))
	}
	if n := r.Count(doctor.Unknown); n > 0 {
		err := fmt.Errorf("no errors found, but %s could not be made", humanize.Plural(n, "check"))
		return cmdline.WithExitCode(cmdline.Unknown, err)
	}
	return nil
}

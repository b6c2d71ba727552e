// Package doctor is the command "doctor", which checks a Forewarm installation, and says what is wrong and how to fix it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/doctor"
)

const about = `Doctor checks a Forewarm installation in a cluster, and says what is wrong and how to fix it. It checks the replicas and
their leader, the CRDs, the API groups and their certificates, the permissions of Forewarm's service account, whether a
second Forewarm is installed, the clocks, the state of each Forecast and WarmPool, and each HPA that reads a Forecast
(as "forewarm explain" does).

With --prometheus it also queries that Prometheus. It checks how long the history of each Forecast is, whether the
history has gaps, whether labels are missing or duplicated, whether kube-state-metrics is scraped, and whether a demand
stays at 0. Use a URL that you can reach from this machine. To reach the Prometheus that Forewarm uses, you often need
"kubectl port-forward".

Doctor changes nothing. It reads with your own permissions, and lists everything that you are not allowed to read. It
reads the Secret of Forewarm's certificate authority to compare certificates; it neither uses nor shows the private key.

With --server it checks a standalone Forewarm instead: whether the server is ready, the state of its Forecasts and, with
--prometheus, their history.

With --wait it repeats the checks until there is no error. Use it in pipelines.

Exit codes:
  0  no errors; there may be warnings
  1  wrong usage, or the cluster cannot be reached
  3  at least one error
  4  no errors, but something could not be checked`

const examples = `  forewarm doctor
  forewarm doctor --wait=10m                     # after an installation, in a pipeline
  forewarm doctor --prometheus http://127.0.0.1:9090
  forewarm doctor --server http://127.0.0.1:8080 # for "forewarm serve --standalone", or the demo
  forewarm doctor --json | jq '.findings[] | select(.level == "error")'`

// options has the values of the flags.
type options struct {
	cmdline.Connection

	config doctor.Config
	wait   time.Duration
	output cmdline.Output
}

// defaultWait is the value of --wait without a time, as text.
const defaultWait = "5m"

// New is the command "doctor".
func New() *cobra.Command {
	o := options{config: doctor.Config{Now: time.Now}}
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check an installation: what is wrong, and how to fix it",
		Long:    about,
		Example: examples,
		Args:    cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return run(cmd.Context(), &o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags, history := cmd.Flags(), &o.config.Prometheus
	flags.StringVarP(&o.config.Namespace, "namespace", "n", "forewarm-system",
		"namespace in which Forewarm is installed")
	o.output.AddFlags(flags, "print the findings")
	o.AddFlags(flags)
	flags.DurationVar(&o.wait, "wait", 0, "repeat the checks until there is no error, but no longer than this")
	flags.Lookup("wait").NoOptDefVal = defaultWait
	flags.StringVar(&history.URL, "prometheus", "",
		"URL at which you reach the Prometheus that Forewarm uses, to check the history")
	flags.DurationVar(&history.Timeout, "query-timeout", 30*time.Second,
		"how long one Prometheus query may take")
	cmdline.AddPrometheusFlags(flags, history)
	return cmd
}

// validate returns every problem of a command line.
func (o *options) validate() error {
	problems, history := []error{o.Validate()}, &o.config.Prometheus
	if o.config.Namespace == "" {
		problems = append(problems, errors.New("--namespace is empty, write for example forewarm-system"))
	}
	if o.wait < 0 {
		problems = append(problems, fmt.Errorf("--wait %s is negative, write for example --wait=5m", o.wait))
	}
	if history.Timeout <= 0 {
		problems = append(problems,
			fmt.Errorf("--query-timeout %s is not positive, write for example 30s", history.Timeout))
	}
	if history.URL != "" {
		problems = append(problems, history.Validate(), cmdline.CheckPrometheus(history))
	}
	return errors.Join(problems...)
}

func run(ctx context.Context, o *options, out, messages io.Writer) error {
	var err error
	if o.config.Cluster, o.config.Elsewhere, err = o.Config(ctx, "doctor"); err != nil {
		return err
	}
	d, err := doctor.New(o.config)
	if err != nil {
		return err
	}
	report, err := examine(ctx, d, o.wait, messages)
	if err != nil {
		return err
	}
	if o.output.ForScripts() {
		err = o.output.Write(out, report)
	} else {
		err = write(out, report)
	}
	return errors.Join(err, cmdline.ChecksError(report.Count(doctor.Error), report.Count(doctor.Unknown)))
}

// runTimeout limits one run of all checks. pause is the time between two runs of --wait.
const (
	runTimeout = 5 * time.Minute
	pause      = 5 * time.Second
)

// examine runs the checks until there is no error, for at most the given time.
func examine(ctx context.Context, d *doctor.Doctor, wait time.Duration, messages io.Writer) (doctor.Report, error) {
	until, said := time.Now().Add(wait), ""
	for {
		report, err := examineOnce(ctx, d)
		if ctx.Err() != nil {
			return report, cmdline.WithExitCode(cmdline.Interrupted, context.Cause(ctx))
		}
		if err == nil && report.Count(doctor.Error) == 0 || time.Now().Add(pause).After(until) {
			return report, err
		}
		if waits := waitsFor(report, err); waits != said {
			said = waits
			fmt.Fprintf(messages, "waiting: %s\n", waits)
		}
		select {
		case <-ctx.Done(): // The next run reports it.
		case <-time.After(pause):
		}
	}
}

func examineOnce(ctx context.Context, d *doctor.Doctor) (doctor.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	return d.Examine(ctx)
}

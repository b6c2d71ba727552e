// Package events is the command "events import": calendars and cron tables become DemandEvents.
package events

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar/importer"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const about = `Import writes DemandEvents, as YAML, for the entries of a calendar (an .ics file, RFC 5545) or of a cron table. Neither
file says how the demand will change. Set one of --times, --at-least, --replicas, --like and --ignore to say this for
all entries. To set one for some entries only, put a name before the value: --times launch=3 applies to entries whose
name contains "launch" (a case-insensitive regular expression). These flags can be repeated.

Entries of a calendar that have the same name and duration become one event. Entries that ended before --since are left
out. Each line of a cron table becomes an event that lasts --duration and is named after the command.

This command changes nothing. In a cluster, Forewarm reads DemandEvents only if the chart value
demandEvents.enabled is true (docs/events.md).

Exit codes:
  0  everything was imported
  1  wrong usage, or the file cannot be read
  3  something was left out`

const examples = `  forewarm events import launches.ics --times 3 -n inference | kubectl apply -f -
  forewarm events import team.ics --times 'Black Friday=5' --times sale=3 --like 'holiday=Sunday' --times 1.5
  forewarm events import team.ics --match 'sale|launch' --at-least 400
  crontab -l | forewarm events import - --duration 20m --at-least 50 --time-zone Europe/Berlin
  echo '0 8 * * 1-5 office' | forewarm events import - --duration 10h --replicas 5 --time-zone Europe/Berlin`

const (
	// maxCalendar limits the size of a calendar in bytes.
	maxCalendar = 10 << 20
	// keptDays is for how many days Forewarm can still learn from past occurrences.
	keptDays = 28
)

// options has the values of the flags.
type options struct {
	importer.Config

	match, since string
	output       cmdline.Output
}

// New is the command "events".
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "events", Short: "Import known events from calendars and cron tables", Args: cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := options{Config: importer.Config{Duration: time.Hour, Namespace: manifest.DefaultNamespace}}
	imports := &cobra.Command{
		Use:     "import FILE",
		Short:   "Write DemandEvents for a calendar or a cron table",
		Long:    about,
		Example: examples,
		Args:    cmdline.Args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return run(cmd, &o, args[0]) },
	}
	flags := imports.Flags()
	flags.StringVarP(&o.Namespace, "namespace", "n", o.Namespace, "namespace of the DemandEvents")
	flags.StringSliceVar(
		&o.Forecasts,
		"forecast",
		nil,
		"Forecasts that the events apply to (default: all Forecasts of the namespace)",
	)
	for _, k := range knownFlags() {
		k.all = &o.Known
		flags.Var(&k, k.flag, k.help)
	}
	flags.Lookup(ignore).NoOptDefVal = ignoreAll
	flags.StringVar(&o.Zone, "time-zone", "",
		"time zone of times without one, for example Europe/Berlin (default: the calendar's own, or UTC)")
	flags.StringVar(&o.match, "match", "", "import only entries whose name matches this regular `expression`")
	flags.Var((*model.Duration)(&o.Duration), "duration", "how long each event from a cron table lasts")
	flags.StringVar(
		&o.since,
		"since",
		"",
		"leave out events that ended before this `date`, for example 2026-12-24 (default: four weeks ago)",
	)
	o.output.AddFlags(flags, "print the objects")
	cmd.AddCommand(imports)
	return cmd
}

// knownFlag is a flag for what is known about the demand: NAME=VALUE for the entries with a name, and VALUE for all other entries.
type knownFlag struct {
	flag, help, kind string
	isNumber         bool // The value must be above 0.
	set              func(known *v1alpha1.EventSpec, value string)
	all              *[]importer.Known
}

const (
	ignore   = "ignore"
	replicas = "replicas"
	// ignoreAll is the value of --ignore if it is given without a value.
	ignoreAll = "true"
)

func knownFlags() []knownFlag {
	return []knownFlag{
		{
			flag:     "times",
			kind:     "[NAME=]number",
			isNumber: true,
			help:     "the demand will be this many times the usual demand",
			set:      func(k *v1alpha1.EventSpec, value string) { k.Times = value },
		},
		{
			flag: "at-least", kind: "[NAME=]quantity", isNumber: true,
			help: "the demand will reach at least this value",
			set:  func(k *v1alpha1.EventSpec, value string) { k.AtLeast = value },
		},
		{
			flag: replicas, kind: "[NAME=]number", isNumber: true,
			help: "at least this many replicas will run, whatever the demand is",
			set: func(k *v1alpha1.EventSpec, value string) {
				n, _ := strconv.ParseInt(value, 10, 32) //nolint:errcheck // Set has checked it.
				k.Replicas = int32(n)
			},
		},
		{
			flag: "like",
			kind: "[NAME=]day",
			help: "the demand will be like that of the last event of this name (Last), or of a day of the week such as Sunday",
			set:  func(k *v1alpha1.EventSpec, value string) { k.Like = v1alpha1.EventLike(value) },
		},
		{
			flag: ignore,
			kind: "bool",
			help: "models do not learn from the demand during the event; --ignore=NAME applies to entries with this name",
			set:  func(k *v1alpha1.EventSpec, _ string) { k.Ignore = true },
		},
	}
}

// String is empty: the help shows no default.
func (*knownFlag) String() string { return "" }

// Type is the word for it in the help.
func (k *knownFlag) Type() string { return k.kind }

// Set implements pflag.Value.
func (k *knownFlag) Set(text string) error {
	known := importer.Known{Flag: fmt.Sprintf("--%s %.200q", k.flag, text)}
	at := strings.LastIndex(text, "=")
	name, value := text[:max(at, 0)], text[at+1:]
	if k.flag == ignore && text != ignoreAll {
		name = text
	}
	if k.isNumber && (strings.HasPrefix(value, "-") || strings.Trim(value, "0.") == "") {
		return errors.New("write a number above 0")
	}
	if _, err := strconv.ParseInt(value, 10, 32); k.flag == replicas && err != nil {
		return errors.New("write a whole number")
	}
	if name != "" {
		var err error
		if known.Name, err = regexp.Compile("(?i)" + name); err != nil {
			return err //nolint:wrapcheck // The flag set names the flag.
		}
	}
	k.set(&known.Spec, value)
	*k.all = append(*k.all, known)
	return nil
}

func run(cmd *cobra.Command, o *options, file string) error {
	if err := o.validate(); err != nil {
		return cmdline.UsageError(err)
	}
	data, err := cmdline.ReadInput(cmd.Context(), cmd.InOrStdin(), file, maxCalendar)
	if err != nil {
		return err
	}
	found, err := importer.ReadDemandEvents(data, o.Config)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	note := func(text string) { fmt.Fprint(cmd.ErrOrStderr(), cmdline.Note(text)) }
	if found.Over > 0 {
		note(fmt.Sprintf("%d ended before %s", found.Over, o.Since.Format(time.DateOnly)))
	}
	for _, reason := range found.LeftOut {
		note(reason.Error())
	}
	if err := o.write(cmd.OutOrStdout(), found.Objects); err != nil {
		return err
	}
	switch n := len(found.Objects); {
	case len(found.LeftOut) > 0:
		err := fmt.Errorf("%d imported, %d left out", n, len(found.LeftOut))
		return cmdline.WithExitCode(cmdline.Findings, err)
	case n == 0:
		return fmt.Errorf("%s has no event to import: see --match and --since", file)
	}
	return nil
}

// validate completes the options, or returns every problem of the command line.
func (o *options) validate() (err error) {
	others := 0
	for _, k := range o.Known {
		if k.Name == nil {
			others++
		}
	}
	const flags = "--times, --at-least, --replicas, --like and --ignore"
	var problems []error
	switch {
	case len(o.Known) == 0:
		problems = append(problems, errors.New("say how the demand will change: set one of "+flags))
	case others > 1:
		problems = append(problems, errors.New("two of "+flags+" are for all entries: keep one, or limit it to some "+
			"entries, for example --times launch=3"))
	}
	if o.Match, err = regexp.Compile(o.match); err != nil {
		problems = append(problems, fmt.Errorf("--match: %w", err))
	}
	o.Since = time.Now().UTC().AddDate(0, 0, -keptDays).Truncate(24 * time.Hour) //nolint:mnd // A day.
	if o.since != "" {
		if o.Since, err = time.Parse(time.DateOnly, o.since); err != nil {
			problems = append(problems, fmt.Errorf("--since %q: write a date, for example 2026-12-24", o.since))
		}
	}
	return errors.Join(problems...)
}

func (o *options) write(out io.Writer, objects []v1alpha1.DemandEvent) error {
	if o.output.ForScripts() {
		return o.output.Write(out, objects)
	}
	for i := range objects {
		text, err := yaml.Marshal(map[string]any{
			"apiVersion": objects[i].APIVersion, "kind": objects[i].Kind, "spec": objects[i].Spec,
			"metadata": map[string]string{"name": objects[i].Name, "namespace": objects[i].Namespace},
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", objects[i].Name, err)
		}
		if _, err := fmt.Fprintf(out, "---\n%s", text); err != nil {
			return err
		}
	}
	return nil
}

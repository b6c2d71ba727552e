// Package events is the command "events import": calendars and cron tables become DemandEvents.
package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/calendar/importer"
	"github.com/forewarm/forewarm/pkg/manifest"
)

const importAbout = `Import writes DemandEvents for the entries of a calendar (an .ics file, RFC 5545) or of a cron table, as YAML. What is
known of the demand then neither of them says: write one of --times, --at-least, --like and --ignore, for all of them.

Of a calendar, entries of one name and duration become one event. Entries that were over before --since are left out.
A line of a cron table is an event of --duration; its name is that of the command.

This command changes nothing. A cluster reads DemandEvents with the chart's demandEvents.enabled (docs/events.md).

Exit codes:
  0  all was imported
  1  wrong usage, or the file cannot be read
  3  something was left out`

const importExamples = `  forewarm events import launches.ics --times 3 -n inference | kubectl apply -f -
  forewarm events import team.ics --match 'sale|launch' --at-least 400
  crontab -l | forewarm events import - --duration 20m --at-least 50 --time-zone Europe/Berlin`

const (
	// maxCalendar is the most that is read of a calendar, in bytes.
	maxCalendar = 10 << 20
	// keptDays is for how long what is over may still be learnt from.
	keptDays = 28
)

// importOptions are the flags.
type importOptions struct {
	namespace, zone, match, since string
	duration                      model.Duration
	forecasts                     []string
	known                         v1alpha1.EventSpec
	like                          string
	output                        cmdline.Output
}

// New is the command "events".
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use: "events", Short: "Import known events from calendars and cron tables", Args: cmdline.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	o := importOptions{duration: model.Duration(time.Hour), namespace: manifest.DefaultNamespace}
	imports := &cobra.Command{
		Use:     "import FILE",
		Short:   "Write DemandEvents for a calendar or a cron table",
		Long:    importAbout,
		Example: importExamples,
		Args:    cmdline.Args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	flags := imports.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", o.namespace, "namespace of the events")
	flags.StringSliceVar(&o.forecasts, "forecast", nil, "Forecasts whose demand it is (default: all of the namespace)")
	flags.StringVar(&o.known.Times, "times", "", "the demand is so many times what it would be")
	flags.StringVar(&o.known.AtLeast, "at-least", "", "the demand is at least that at its height")
	flags.StringVar(
		&o.like,
		"like",
		"",
		"the demand is like Last (the last of this name) or like a day of the week, for example Sunday",
	)
	flags.BoolVar(&o.known.Ignore, "ignore", false, "nothing is learnt from the demand")
	flags.StringVar(
		&o.zone,
		"time-zone",
		"",
		"time zone of times that name none, for example Europe/Berlin (default UTC)",
	)
	flags.StringVar(&o.match, "match", "", "regular `expression`, only entries whose name has it")
	flags.Var(&o.duration, "duration", "how long an event of a cron table lasts")
	flags.StringVar(&o.since, "since", "", "`date` from which on events count, as 2026-12-24 (default: four weeks ago)")
	o.output.AddFlags(flags, "print the objects")
	cmd.AddCommand(imports)
	return cmd
}

func (o *importOptions) run(cmd *cobra.Command, file string) error {
	o.known.Like = v1alpha1.EventLike(o.like)
	since, match, err := o.validate()
	if err != nil {
		return cmdline.UsageError(err)
	}
	data, err := cmdline.ReadInput(cmd.Context(), cmd.InOrStdin(), file, maxCalendar)
	if err != nil {
		return err
	}
	var found importer.Result
	if bytes.Contains(data[:min(len(data), 1024)], []byte("BEGIN:VCALENDAR")) {
		if found, err = importer.ICS(data, o.zone); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	} else {
		found = importer.Crontab(data, since, o.zone, time.Duration(o.duration))
	}
	objects, left := []v1alpha1.DemandEvent{}, found.LeftOut
	over := 0
	taken := map[string]bool{}
	for i := range found.Events {
		e := &found.Events[i]
		if !match.MatchString(e.Name) {
			continue
		}
		object := o.object(e, taken)
		event, problems := manifest.ResolveDemandEvent(object.Name, &object.Spec)
		switch {
		case len(problems) > 0:
			left = append(left, fmt.Errorf("%.64q is left out: %s", e.Name, manifest.JoinProblems(problems)))
		case isOver(event.Event, since):
			over++
		default:
			taken[object.Name] = true
			objects = append(objects, object)
		}
	}
	if over > 0 {
		fmt.Fprint(
			cmd.ErrOrStderr(),
			cmdline.Note(fmt.Sprintf("%d were over before %s", over, since.Format(time.DateOnly))),
		)
	}
	for _, reason := range left {
		fmt.Fprint(cmd.ErrOrStderr(), cmdline.Note(reason.Error()))
	}
	if err := o.write(cmd.OutOrStdout(), objects); err != nil {
		return err
	}
	switch {
	case len(left) > 0:
		return cmdline.WithExitCode(cmdline.Findings, fmt.Errorf("%d imported, %d left out", len(objects), len(left)))
	case len(objects) == 0:
		return fmt.Errorf("%s has no event to import: see --match and --since", file)
	}
	return nil
}

func (o *importOptions) validate() (since time.Time, match *regexp.Regexp, err error) {
	known := 0
	for _, is := range []bool{o.known.Times != "", o.known.AtLeast != "", o.known.Like != "", o.known.Ignore} {
		if is {
			known++
		}
	}
	var problems []error
	if known != 1 {
		problems = append(
			problems,
			errors.New("say what is known of the demand: one of --times, --at-least, --like and --ignore"),
		)
	}
	if match, err = regexp.Compile(o.match); err != nil {
		problems = append(problems, fmt.Errorf("--match: %w", err))
	}
	since = time.Now().UTC().AddDate(0, 0, -keptDays).Truncate(24 * time.Hour) //nolint:mnd // A day.
	if o.since != "" {
		if since, err = time.Parse(time.DateOnly, o.since); err != nil {
			problems = append(problems, fmt.Errorf("--since %q: write a date, 2026-12-24", o.since))
		}
	}
	return since, match, errors.Join(problems...)
}

// object is the DemandEvent of an event, under a name that is free.
func (o *importOptions) object(e *calendar.Event, taken map[string]bool) v1alpha1.DemandEvent {
	isTaken := func(name string) bool { return taken[name] }
	name := manifest.FreeName(e.Name, isTaken)
	if name == "" { // It has other letters.
		name = manifest.FreeName("event", isTaken)
	}
	spec := o.known
	spec.Start, spec.TimeZone, spec.Recurrence = v1alpha1.EventTime(e.Start), e.TimeZone, e.Recurrence
	spec.Duration = v1alpha1.Duration(model.Duration(e.Duration).String())
	spec.AlsoOn, spec.ExceptOn = eventTimes(e.AlsoOn), eventTimes(e.ExceptOn)
	return v1alpha1.DemandEvent{
		TypeMeta:   v1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.DemandEventKind},
		ObjectMeta: v1.ObjectMeta{Name: name, Namespace: o.namespace},
		Spec:       v1alpha1.DemandEventSpec{EventSpec: spec, Forecasts: o.forecasts},
	}
}

func eventTimes(all []string) (out []v1alpha1.EventTime) {
	for _, t := range all {
		out = append(out, v1alpha1.EventTime(t))
	}
	return out
}

// isOver reports whether an event has no occurrence any more, that a Forecast could have seen or will see.
func isOver(e calendar.Event, since time.Time) bool {
	const years = 10
	return len(calendar.Of([]calendar.Event{e})(since, since.AddDate(years, 0, 0))) == 0
}

func (o *importOptions) write(out io.Writer, objects []v1alpha1.DemandEvent) error {
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

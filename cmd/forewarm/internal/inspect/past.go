package inspect

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/prometheus/common/model"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/past"
	"github.com/forewarm/forewarm/pkg/signal"
)

// PastOptions say of which time it is told, which Prometheus has the history, and whose series its presets count.
type PastOptions struct {
	// From is zero if the flag is not given.
	past.Config

	flag string
}

// AddFlags adds the flag of the time, and those of the history.
func (o *PastOptions) AddFlags(flags *pflag.FlagSet, name, usage string) {
	o.flag, o.Prometheus.Timeout, o.Trust = "--"+name, 30*time.Second, signal.DefaultTrust()
	usage += ": a `time` such as 2026-01-31T03:00:00Z, or 3h for three hours ago"
	flags.Func(name, usage, func(text string) (err error) {
		o.From, err = parseTime(text, time.Now())
		return err
	})
	flags.StringVar(&o.Prometheus.URL, "prometheus", "",
		"with "+o.flag+": URL of the Prometheus with the history and Forewarm's own metrics")
	cmdline.AddPrometheusFlags(flags, &o.Prometheus)
	cmdline.AddTrustFlags(flags, &o.Trust)
}

// Validate returns every problem.
func (o *PastOptions) Validate() error {
	switch {
	case o.From.IsZero() && o.Prometheus.URL != "":
		return fmt.Errorf("--prometheus is for %s, which is missing", o.flag)
	case o.From.IsZero():
		return nil
	case o.Prometheus.URL == "":
		return fmt.Errorf("%s needs a history: add --prometheus URL", o.flag)
	}
	return errors.Join(o.Prometheus.Validate(), cmdline.CheckPrometheus(&o.Prometheus))
}

// parseTime parses a time in the past, in RFC 3339 format or as a duration before now.
func parseTime(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if ago, no := model.ParseDuration(text); no == nil {
		at, err = now.Add(-time.Duration(ago)), nil
	}
	if err != nil || at.After(now) || at.Unix() < 0 {
		return at, errors.New("not a time in the past, write for example 2026-01-31T03:00:00Z or 3h")
	}
	return at, nil
}

const heads = "\tRECORDED\t\t\t\tTODAY'S SPEC\t\t\nTIME\tOBSERVED\tSERVED\tWANTED\tREADY\tOBSERVED\tSERVED\tSTATE"

const legend = `
RECORDED is what Forewarm served and did then, according to its own gauges. TODAY'S SPEC is what the current spec,
autoscalers and lead time would have served, replayed on the history up to that time.
`

// WritePast writes Forecasts for scripts, or a table for each, with the reason if it is of one moment.
func WritePast(out io.Writer, output *cmdline.Output, all []*past.Forecast) error {
	if output.ForScripts() {
		return output.Write(out, all)
	}
	for _, p := range all {
		fmt.Fprintf(out, "Forecast %s (UTC)\n\n", p.Key)
		var lines [][]string
		for i := range p.Moments {
			was, now := &p.Moments[i].Recorded, &p.Moments[i].TodaysSpec
			cells := []string{p.Moments[i].Time.Format(time.DateTime)}
			for _, v := range []*float64{was.Observed, was.Served, was.Wanted, was.Ready, now.Observed, now.Served} {
				cells = append(cells, humanize.Optional(v, humanize.Number))
			}
			lines = append(lines, append(cells, now.State))
		}
		if err := cmdline.Table(out, heads, lines); err != nil {
			return err
		}
		if len(p.Moments) == 1 {
			fmt.Fprintf(out, "\nWhy today's spec would serve this: %s.\n", p.Moments[0].TodaysSpec.Reason)
		}
		for _, note := range p.Notes {
			fmt.Fprintf(out, "\n%s\n", note)
		}
		fmt.Fprint(out, legend)
	}
	return nil
}

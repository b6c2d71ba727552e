package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	corefleet "github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/fleet"
	"github.com/forewarm/forewarm/pkg/report"
	"github.com/forewarm/forewarm/testdata/traces"
)

// The demo's fleet. A replica of a member sustains fleetTarget requests per minute. Replicas and batch runs have one GPU each.
const (
	fleetGPUs, fleetTarget = 56, 500
	fleetRun               = 20 * time.Minute
)

// fleetDay is the day that the demo of a fleet shows.
type fleetDay struct {
	start  time.Time
	result *fleet.Result
	// moments are the steps of the day with Forewarm.
	moments []fleet.Moment
	// preempted is how many runs are killed on the day if batch work takes every free GPU.
	preempted int
}

// playFleet plays the demo's fleet, and returns the last working day.
func playFleet(ctx context.Context, bar *cmdline.ProgressBar) (*fleetDay, error) {
	d := &fleetDay{}
	c := fleet.Config{
		GPUs: fleetGPUs, Limit: badHours, Record: d.record,
		Batch: []corefleet.Consumer{{Name: "embeddings", GPUs: 1, Share: 1, Run: fleetRun}},
	}
	var members []compare.Config
	for _, m := range []struct{ name, file string }{{"chat", traces.Office}, {"code", traces.Calm}} {
		requests, err := readEmbedded(m.file, "requests")
		if err != nil {
			return nil, err
		}
		members = append(members, compare.Config{
			Demand: requests, Source: m.name, Autoscaler: m.name, HPA: autoscalerOf(m.name, fleetGPUs, fleetTarget),
			Lead: compare.LeadTime{Median: DefaultLeadTime}, Objective: badHours, BadHours: true,
		})
		c.Members = append(c.Members, fleet.Member{Name: m.name, GPUs: 1})
		d.start = lastWorkingDay(requests.End())
	}
	var err error
	d.result, err = simulate.PlayFleet(ctx, bar, &c, members)
	return d, err
}

// lastWorkingDay returns the start of the last whole day before a time that is no Saturday or Sunday, in UTC.
func lastWorkingDay(end time.Time) time.Time {
	start := end.UTC().Truncate(day).Add(-day)
	for start.Weekday() == time.Saturday || start.Weekday() == time.Sunday {
		start = start.Add(-day)
	}
	return start
}

// record keeps what the demo shows of a step.
func (d *fleetDay) record(m fleet.Moment) {
	switch {
	case m.At.Before(d.start) || !m.At.Before(d.start.Add(day)):
	case m.Policy == fleet.Forewarm:
		d.moments = append(d.moments, m)
	case m.Policy == fleet.Reactive:
		d.preempted += m.Killed
	}
}

// ramp returns three steps: the last one before the peak at which batch runs started, the last one before the peak at which the members held
// at most a third of it, and the peak of the members.
func (d *fleetDay) ramp() (last, begin, peak *fleet.Moment) {
	peak = &d.moments[0]
	for i := range d.moments {
		if m := &d.moments[i]; m.Members > peak.Members {
			peak = m
		}
	}
	last, begin = &d.moments[0], &d.moments[0]
	for i := range d.moments {
		m := &d.moments[i]
		if !m.At.Before(peak.At) {
			break
		}
		if m.Started > 0 {
			last = m
		}
		if m.Members <= peak.Members/3 {
			begin = m
		}
	}
	return last, begin, peak
}

// runs returns how many batch runs started and were killed from one time to another.
func (d *fleetDay) runs(from, to time.Time) (started, killed int) {
	for i := range d.moments {
		if m := &d.moments[i]; !m.At.Before(from) && m.At.Before(to) {
			started, killed = started+m.Started, killed+m.Killed
		}
	}
	return started, killed
}

// sentences say what happens in the morning and what is killed.
func (d *fleetDay) sentences() []string {
	last, begin, peak := d.ramp()
	_, inRamp := d.runs(begin.At, peak.At.Add(1))
	started, killed := d.runs(d.start, d.start.Add(day))
	night := 0.0
	for i := range d.moments {
		if m := &d.moments[i]; m.At.Before(last.At) {
			night = max(night, m.Batch)
		}
	}
	number := humanize.Number
	const (
		morning = "In the night, batch runs held up to %s GPUs. Forewarm started the last ones before the morning at %s. " +
			"When the members' ramp began at %s, the members held %s GPUs and batch runs held %s. At the members' peak at %s, " +
			"the members held %s GPUs and batch runs held %s."
		losses = "Members took the GPUs of %s in this ramp, and of %s of %s on the whole day: these were killed. If batch " +
			"work took every free GPU, %s would have been killed on this day."
	)
	return []string{
		fmt.Sprintf(morning, number(night), last.At.UTC().Format(clockTime), begin.At.UTC().Format(clockTime),
			number(begin.Members), number(begin.Batch), peak.At.UTC().Format(clockTime), number(peak.Members),
			number(peak.Batch)),
		fmt.Sprintf(losses, humanize.Plural(inRamp, "batch run"), humanize.Count(killed), humanize.Count(started),
			humanize.Plural(d.preempted, "run")),
	}
}

// sections are the report: who holds the GPUs at the start of each hour, and what all policies did in all days.
func (d *fleetDay) sections() []report.Section {
	var hours []int
	for at := 0; at < len(d.moments); at += len(d.moments) / 24 {
		hours = append(hours, at)
	}
	table := report.Records(hours, func(row *report.Record, at *int) {
		m := &d.moments[*at]
		started, killed := d.runs(m.At, m.At.Add(time.Hour))
		row.Text("", "time\n(UTC)", m.At.UTC().Format(clockTime))
		row.Number("", "members'\nGPUs", m.Members, humanize.Number)
		row.Number("", "batch\nGPUs", m.Batch, humanize.Number)
		row.Number("", "kept\nfree", fleetGPUs-m.Members-m.Batch, humanize.Number)
		row.Text("", "runs started\nwithin 1 h", humanize.Count(started))
		row.Text("", "killed\nwithin 1 h", humanize.Count(killed))
	})
	return append([]report.Section{
		{Title: d.title(), Drawing: d.plot(), Notes: d.sentences()},
		{Table: table},
	}, d.result.Sections()...)
}

func (d *fleetDay) title() string {
	return fmt.Sprintf("%d GPUs on %s (UTC)", fleetGPUs, d.start.Format("Monday 2 January 2006"))
}

// plot draws who holds the GPUs over the day, in characters.
func (d *fleetDay) plot() string {
	const rows, perHour = 14, 3
	var out strings.Builder
	for row := rows; row > 0; row-- {
		level := (float64(row) - 0.5) * fleetGPUs / rows
		fmt.Fprintf(&out, "%3d ", row*fleetGPUs/rows)
		for column := range 24 * perHour {
			m := &d.moments[column*len(d.moments)/(24*perHour)]
			switch {
			case level < m.Members:
				out.WriteRune('█')
			case level < m.Members+m.Batch:
				out.WriteRune('░')
			default:
				out.WriteRune('·')
			}
		}
		out.WriteByte('\n')
	}
	out.WriteString("    ")
	for hour := 0; hour < 24; hour += 4 {
		fmt.Fprintf(&out, "%-*s", 4*perHour, d.start.Add(time.Duration(hour)*time.Hour).Format(clockTime))
	}
	return out.String() + "\n    █ members   ░ batch runs   · free\n\n"
}

package fleet

import (
	"cmp"
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/report"
)

// Text is the result for a terminal of a width.
func (r *Result) Text(width int) string { return report.Text(r.Sections(), width) }

// Sections are the verdict or the doubt, a table of the policies and notes.
func (r *Result) Sections() []report.Section {
	describe := func(row *report.Record, o *Outcome) {
		row.Text("", "policy", o.Policy)
		row.Number("", "batch\nGPU-hours", o.Done, humanize.Amount)
		row.Number("", "killed\nGPU-hours", o.Killed, humanize.Amount)
		row.Text("", "runs", humanize.Count(o.Runs))
		row.Text("", "killed", humanize.Count(o.KilledRuns))
		row.Number("", "demand in\nbad hours", o.BadHours, humanize.LateShare)
	}
	return []report.Section{
		{Sentences: []string{cmp.Or(r.Doubt, r.verdict())}},
		{Table: report.Records(r.Outcomes, describe)},
		{Title: "Notes", Items: r.notes()},
	}
}

// verdict compares Forewarm with the static partition. First it says if the fleet is too small for its members.
func (r *Result) verdict() string {
	static, ours := r.Find(Static), r.Find(Forewarm)
	small := ""
	if ours.BadHours > max(r.Limit, r.AloneBadHours) {
		const text = "These GPUs are too few for the members: %s of their demand would be in bad hours, even without batch work. "
		small = fmt.Sprintf(text, humanize.LateShare(r.Find(Reactive).BadHours))
	}
	days := humanize.Plural(int(r.Hours/24+.5), "day")
	text := small + fmt.Sprintf("In %s on %s GPUs, batch work would have done %s GPU-hours with Forewarm", days,
		humanize.Number(r.GPUs), humanize.Amount(ours.Done))
	if static.Done <= 0 {
		return text + ". A static partition would have left nothing for batch work."
	}
	return fmt.Sprintf("%s, and %s with a static partition of %s GPUs for the members (%+.0f%%).", text,
		humanize.Amount(static.Done), humanize.Number(r.Static), 100*(ours.Done/static.Done-1))
}

func (r *Result) notes() []string {
	const killed = "With Forewarm, members would have taken the GPUs of %s of %s, which lost %s GPU-hours. If batch work " +
		"took every free GPU (reactive), this would have been %s runs and %s GPU-hours."
	ours, reactive := r.Find(Forewarm), r.Find(Reactive)
	worst := "With Forewarm, no member would have had a bad hour."
	if w := ours.Worst; w != nil {
		worst = fmt.Sprintf("With Forewarm, the worst hour would have been %s UTC: %s of the demand of %s late.",
			w.Start.UTC().Format("2006-01-02 15:04"), humanize.Share(w.Late), w.Member)
		if r.Find(Static).BadHours >= ours.BadHours {
			worst += " With the static partition, at least as much demand is in bad hours."
		}
	}
	var out []string
	if ours.BadHours > r.AloneBadHours && r.Asked > r.GPUs {
		const small = "The members ask for up to %s GPUs. If they got them, %s of their demand would be in bad hours, " +
			"instead of %s."
		out = append(out, fmt.Sprintf(small, fleet.Number(r.Asked), humanize.LateShare(r.AloneBadHours),
			humanize.LateShare(ours.BadHours)))
	}
	if reactive.Runs > 0 {
		out = append(out, fmt.Sprintf(killed, humanize.Count(ours.KilledRuns), humanize.Plural(ours.Runs, "batch run"),
			humanize.Amount(ours.Killed), humanize.Count(reactive.KilledRuns), humanize.Amount(reactive.Killed)))
	}
	const static = "The static partition gives the members the smallest number of GPUs that meets the objective in hindsight. " +
		"It may refuse replicas that the members ask for if no hour becomes bad; Forewarm keeps GPUs for all of them. The " +
		"oracle knows what the members will ask for."
	const simulated = "The first 3 days of the history are simulated and not counted. All GPUs are alike: it is not simulated " +
		"whether the GPUs of a replica are on one node."
	return append(out, worst, static, simulated)
}

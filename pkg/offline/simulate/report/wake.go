package report

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// wakeSection compares servers that wake with servers that start.
func wakeSection(w *compare.WakesResult, a *compare.Assumptions) section {
	out := section{
		Title: "Servers that sleep",
		Heads: []string{"policy", "GPU-hours awake", "asleep", a.LimitedName(), "pays below"},
		Notes: []string{
			"Asleep are as many servers as were awake at most, less those that are awake. \"Pays below\" is the price of a GPU-hour asleep, as a " +
				"share of one awake, below which it is cheaper than Forewarm with servers that start: a server that keeps its GPU for itself " +
				"costs all of it, several on one GPU share it.",
		},
	}
	add := func(r *compare.WakeResult, pays string) {
		out.Lines = append(out.Lines, []string{
			r.Policy,
			humanize.Amount(r.Awake * a.GPUs),
			humanize.Amount(r.Asleep * a.GPUs),
			formatLimited(r.Limited, r.MeetsObjective),
			pays,
		})
	}
	starts := w.Starts
	starts.Asleep = 0
	add(&starts, humanize.Unknown)
	for i := range w.Wakes {
		add(&w.Wakes[i], humanize.Share(w.BreakEven(&w.Wakes[i])))
	}
	best := &w.Wakes[0]
	out.Answer = fmt.Sprintf(
		"With servers that wake in %s Forewarm takes %s GPU-hours awake instead of %s. That pays while a GPU-hour asleep "+
			"costs less than %s of one awake.",
		humanize.Span(w.Wake.Time),
		humanize.Amount(best.Awake*a.GPUs),
		humanize.Amount(w.Starts.Awake*a.GPUs),
		humanize.Share(w.BreakEven(best)),
	)
	return out
}

func wakeObject(w *compare.WakesResult, r *compare.WakeResult, a *compare.Assumptions) jsonObject {
	return jsonObject{
		{"policy", r.Policy},
		{"gpu_hours_awake", r.Awake * a.GPUs},
		{"gpu_hours_asleep", r.Asleep * a.GPUs},
		{nameOfLimited(a), r.Limited},
		{"meets_objective", r.MeetsObjective},
		{"pays_below", w.BreakEven(r)},
	}
}

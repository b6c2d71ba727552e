package backtestcmd

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/terminal"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// verdict says in a few sentences which model is best, and by how much better or worse than what costs nothing.
func (r report) verdict() string {
	if why := r.unjudged(); why != "" {
		return strings.ToUpper(why[:1]) + why[1:] + "."
	}
	model, free := r.best(false), r.best(true)
	ahead := history.Span(r.plan.span(r.plan.lead))
	names := r.played.models
	change, sure := r.change(model, free)
	var out []string
	best, own, against := called(names[free].name), called(names[model].name), r.against(model)
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case r.loss(free, r.lead) == 0 || math.IsNaN(change):
		say("Nothing to forecast: %s is never wrong about the highest demand of the next %s.", best, ahead)
	case math.Abs(change) < edge:
		say("No better than free: at the highest demand of the next %s the best model, %s, is as good as %s, "+
			"which costs nothing%s.", ahead, own, best, against)
	case !sure:
		say("Not sure: at the highest demand of the next %s the best model is %s%s; but beside %s, "+
			"which costs nothing, that may be chance.", ahead, own, against, best)
	case change < 0:
		say("Worth it: %s is best at the highest demand of the next %s%s.", own, ahead, against)
	default:
		say("WORSE than free: at the highest demand of the next %s %s is best, which costs nothing; "+
			"the best model is %s%s.", ahead, best, own, against)
	}
	out = append(out, r.held(model))
	if served := r.find(forewarm); served >= 0 && served != model && r.scores[served] != nil {
		say("What forewarm would have served loses %s.", compared(r.loss(served, r.lead), r.loss(free, r.lead), best))
	}
	return strings.Join(out, " ")
}

// unjudged says why there is no verdict and what to do, empty where there is one.
func (r report) unjudged() string {
	if r.best(false) >= 0 && r.best(true) >= 0 {
		return ""
	}
	failed := func(m account) bool { return m.free || m.err != nil }
	if !slices.ContainsFunc(r.played.models, func(m account) bool { return !failed(m) }) {
		return "no model could be judged beside the free ones, as none could be fitted (the notes say why): take a longer " +
			"history, or other models with --model"
	}
	const layout = "2006-01-02 15:04"
	from, to := r.judged()
	window := history.Span(r.plan.span(r.plan.lead))
	during := from.UTC().Format(layout) + " to " + to.UTC().Format(layout) + " UTC"
	if slices.ContainsFunc(tracksOf(r.played.models, r.lead)[0].Highest, isKnown) {
		return fmt.Sprintf(
			"nothing could be judged, as not all models could tell the quantiles of any %s, the lead time, "+
				"without a gap from %s: what they learn from, before that, has too many gaps; take a longer history, or one "+
				"with fewer gaps",
			window,
			during,
		)
	}
	return fmt.Sprintf("nothing could be judged, as no stretch of %s, the lead time, is without a gap from %s: take a "+
		"history with fewer gaps, one in coarser steps, or a shorter --lead-time", window, during)
}

func isKnown(v float64) bool { return !math.IsNaN(v) }

// against compares a model's loss with those of the last value, the last season and the best free one, where that is
// another.
func (r report) against(model int) string {
	names := []string{windowpeak.LastValue, windowpeak.LastSeason}
	if best := r.best(true); best >= 0 && !slices.Contains(names, r.played.models[best].name) {
		names = append(names, r.played.models[best].name)
	}
	var parts []string
	for _, name := range names {
		i := r.find(name)
		if loss := r.loss(i, r.lead); loss > 0 {
			parts = append(parts, compared(r.loss(model, r.lead), loss, called(name)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": its 95 % quantile loses " + listed(parts)
}

// listed are parts of a sentence with commas and an "and".
func listed(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

// held is how often the best model's quantile held, and how its points compare.
func (r report) held(model int) string {
	s, ok := r.at(model, r.lead)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("It held %.1f %% of the time, where 95 %% is wanted.", 100*s.coverage[verdictLevel])
	if last, ok := r.at(r.find(windowpeak.LastValue), r.lead); ok && last.mae > 0 {
		text += fmt.Sprintf(" Point by point it errs %s.", compared(s.mae, last.mae, called(windowpeak.LastValue)))
	}
	return text
}

// compared is a loss beside another one in words.
func compared(loss, other float64, name string) string {
	change := loss/other - 1
	switch percent := math.Round(100 * math.Abs(change)); {
	case math.IsNaN(change) || math.IsInf(change, 0):
		return "what cannot be compared with " + name
	case percent == 0:
		return "as much as " + name
	case change < 0:
		return fmt.Sprintf("%.0f %% less than %s", percent, name)
	default:
		return fmt.Sprintf("%.0f %% more than %s", percent, name)
	}
}

// called is a model in a sentence.
func called(name string) string {
	switch name {
	case windowpeak.LastValue:
		return "the last value"
	case windowpeak.LastSeason:
		return "the same time last season"
	case windowpeak.RunningMax:
		return "the highest value of late"
	case forewarm:
		return "forewarm's own choice"
	}
	return name
}

// verdictLines is the verdict in lines of at most so many characters, each with a line feed.
func (r report) verdictLines(width int) string {
	const kept = "\u00a0%" // A number keeps its unit.
	lines := terminal.Wrap(strings.ReplaceAll(r.verdict(), " %", kept), "", width)
	return strings.ReplaceAll(lines, kept, " %")
}

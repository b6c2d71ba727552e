package cli

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/history"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/printable"
)

// headline is the verdict, or why there is none.
func (r backtestReport) headline() string { return cmp.Or(r.verdict(), r.history.TooShort()) }

// worthIt reports whether a model is surely better than the best baseline.
func (r backtestReport) worthIt() bool {
	model, free := r.best(false), r.best(true)
	if model < 0 || free < 0 {
		return false
	}
	change, sure := r.lossDifference(model, free)
	return sure && change < 0 && -change >= equalWithin && r.loss(free, r.lead) != 0
}

// verdict names the best model, and how it compares with the baselines; it is empty for a history that is too short.
func (r backtestReport) verdict() string {
	if why := r.unjudged(); why != "" {
		return strings.ToUpper(why[:1]) + why[1:] + "."
	}
	if r.history.TooShort() != "" {
		return ""
	}
	model, free := r.best(false), r.best(true)
	ahead := history.FormatSpan(r.plan.span(r.plan.lead))
	names := r.played.models
	change, sure := r.lossDifference(model, free)
	var out []string
	best, own, against := modelTitle(names[free].name), modelTitle(names[model].name), r.against(model)
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case r.loss(free, r.lead) == 0 || math.IsNaN(change):
		say("Nothing to forecast: %s is always right about the peak demand of the next %s.", best, ahead)
	case math.Abs(change) < equalWithin:
		say("No better than a baseline: for the peak demand of the next %s, the best model (%s) is as good as %s.%s",
			ahead, own, best, against)
	case !sure:
		say(
			"Not significant: for the peak demand of the next %s, the best model is %s, but its difference from %s may be "+
				"chance.%s",
			ahead,
			own,
			best,
			against,
		)
	case change < 0:
		say("Worth it: %s is the best for the peak demand of the next %s.%s", own, ahead, against)
	default:
		say("WORSE than a baseline: for the peak demand of the next %s, %s is the best; the best model is %s.%s",
			ahead, best, own, against)
	}
	out = append(out, r.coverageText(model))
	if served := r.find(forewarm); served >= 0 && served != model && r.scores[served] != nil {
		say("The loss of Forewarm's own selection is %s.",
			compareText(r.loss(served, r.lead), r.loss(free, r.lead), best))
	}
	return strings.Join(out, " ")
}

// unjudged is the reason why there is no verdict, with what to do; empty if there is one.
func (r backtestReport) unjudged() string {
	if r.best(false) >= 0 && r.best(true) >= 0 {
		return ""
	}
	failed := func(m modelResult) bool { return m.baseline || m.err != nil }
	if !slices.ContainsFunc(r.played.models, func(m modelResult) bool { return !failed(m) }) {
		return "no model could be fitted, so only the baselines were judged (the notes have the reasons): use a longer " +
			"history, or other models with --model"
	}
	const layout = "2006-01-02 15:04"
	from, to := r.judged()
	window := history.FormatSpan(r.plan.span(r.plan.lead))
	during := from.UTC().Format(layout) + " to " + to.UTC().Format(layout) + " UTC"
	if slices.ContainsFunc(tracksOf(r.played.models, r.lead)[0].Peak, isKnown) {
		return fmt.Sprintf(
			"nothing could be judged: not all models could forecast a window of %s (the lead time) without a gap from %s. "+
				"The history before that has too many gaps: use a longer history, or one with fewer gaps",
			window,
			during,
		)
	}
	return fmt.Sprintf("nothing could be judged: no window of %s (the lead time) is without a gap from %s. Use a "+
		"history with fewer gaps or coarser steps, or a shorter --lead-time", window, during)
}

func isKnown(v float64) bool { return !math.IsNaN(v) }

// against compares a model's loss with those of the last value, the last season and the best free one, where that is
// another.
func (r backtestReport) against(model int) string {
	names := []string{windowpeak.LastValue, windowpeak.LastSeason}
	if best := r.best(true); best >= 0 && !slices.Contains(names, r.played.models[best].name) {
		names = append(names, r.played.models[best].name)
	}
	var parts []string
	for _, name := range names {
		i := r.find(name)
		if loss := r.loss(i, r.lead); loss > 0 {
			parts = append(parts, compareText(r.loss(model, r.lead), loss, modelTitle(name)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " The pinball loss of its 95 % quantile is " + humanize.List(parts) + "."
}

// coverageText is how often the best model's quantile held, and how its points compare.
func (r backtestReport) coverageText(model int) string {
	s, ok := r.scoreOf(model, r.lead)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("Its coverage is %.1f %% (95 %% is wanted).", 100*s.coverage[verdictLevel])
	if last, ok := r.scoreOf(r.find(windowpeak.LastValue), r.lead); ok && last.mae > 0 {
		text += fmt.Sprintf(" The error of its point forecasts is %s.",
			compareText(s.mae, last.mae, modelTitle(windowpeak.LastValue)))
	}
	return text
}

// compareText is a loss beside another one in words.
func compareText(loss, other float64, name string) string {
	change := loss/other - 1
	switch percent := math.Round(100 * math.Abs(change)); {
	case math.IsNaN(change) || math.IsInf(change, 0):
		return "not comparable with " + name + "'s"
	case percent == 0:
		return "as high as " + name + "'s"
	case change < 0:
		return fmt.Sprintf("%.0f %% lower than %s's", percent, name)
	default:
		return fmt.Sprintf("%.0f %% higher than %s's", percent, name)
	}
}

// modelTitle is a model in a sentence.
func modelTitle(name string) string {
	switch name {
	case windowpeak.LastValue:
		return "the last value"
	case windowpeak.LastSeason:
		return "the last season"
	case windowpeak.RunningMax:
		return "the running maximum"
	case forewarm:
		return "Forewarm's selection"
	}
	return name
}

// verdictLines is the verdict in lines of at most so many characters, each with a line feed.
func (r backtestReport) verdictLines(width int) string {
	const kept = "\u00a0%" // A number keeps its unit.
	lines := printable.Wrap("", strings.ReplaceAll(r.headline(), " %", kept), "", width)
	return strings.ReplaceAll(lines, kept, " %")
}

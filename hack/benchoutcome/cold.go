package main

import (
	"fmt"
	"slices"
	"strings"
)

// firstDay is the summary of the first 24 h of the traces that have demand then. Nothing is played there in hindsight.
func (s summary) firstDay() (summary, []*trial) {
	out := summary{
		options: s.options,
		rivals:  slices.DeleteFunc(slices.Clone(s.rivals), func(r rival) bool { return r.hindsight }),
	}
	for _, r := range s.results {
		if len(r.first) > 0 {
			out.results = append(out.results, result{trial: r.trial, rival: r.rival, lines: r.first})
		}
	}
	return out, out.trials((*trial).beginsBusy)
}

// coldTable is what a cold start costs: of each policy the best setting for all traces, at the lateness that forewarm gets
// where it is asked for 1 %.
func (s summary) coldTable(text *strings.Builder) {
	first, trials := s.firstDay()
	if len(trials) == 0 {
		return
	}
	late, what := 0.01, "a mean lateness of 1 %"
	if r, played := first.forewarm(); played {
		late = first.asked(r, trials, 0.01).mean
		what = fmt.Sprintf("the mean lateness of forewarm where it is asked for 1 %%: %.2f %%", 100*late)
	}
	fmt.Fprintf(
		text,
		"\n**The first 24 h of each trace**, none before them: cost of one setting for all traces, chosen "+
			"afterwards, at %s\n\n| policy | cost |\n|---|--:|\n",
		what,
	)
	for _, r := range first.rivals {
		byMean, _ := first.fronts(r, trials)
		fmt.Fprintf(text, "| %s | %s |\n", r.name, shown(costAt(byMean, late)))
	}
	first.askedTable(text, trials)
}

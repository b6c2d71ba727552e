package main

import (
	"fmt"
	"slices"
	"strings"
)

// firstDay is the summary of the first 24 h of the traces that have demand then, without policies in hindsight.
func (s summary) firstDay() (summary, []*trial) {
	out := summary{
		options:  s.options,
		policies: slices.DeleteFunc(slices.Clone(s.policies), func(r benchPolicy) bool { return r.hindsight }),
	}
	for _, r := range s.results {
		if len(r.first) > 0 {
			out.results = append(out.results, result{trial: r.trial, policy: r.policy, lines: r.first})
		}
	}
	return out, out.trials((*trial).beginsBusy)
}

// firstDayTable is the cost of a cold start: of each policy the best setting for all traces, at Forewarm's lateness under an
// objective of 1 %.
func (s summary) firstDayTable(text *strings.Builder) {
	first, trials := s.firstDay()
	if len(trials) == 0 {
		return
	}
	late, what := 0.01, "a mean lateness of 1 %"
	if r, played := first.forewarm(); played {
		late = first.withObjective(r, trials, 0.01).mean
		what = fmt.Sprintf("forewarm's mean lateness under an objective of 1 %%: %.2f %%", 100*late)
	}
	fmt.Fprintf(
		text,
		"\n**The first 24 h of each trace**, without history: cost of one setting for all traces, chosen "+
			"afterwards, at %s\n\n| policy | cost |\n|---|--:|\n",
		what,
	)
	for _, r := range first.policies {
		byMean, _ := first.fronts(r, trials)
		fmt.Fprintf(text, "| %s | %s |\n", r.name, formatCost(costAt(byMean, late)))
	}
	first.objectivesTable(text, trials)
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// summary makes the tables of all results.
type summary struct {
	results  []result
	policies []benchPolicy
	options  options
	slower   []slower
	cpuTimes []cpuTime
}

// matchedLateness is the lateness at which costs are compared.
func matchedLateness() []float64 { return []float64{0.005, 0.01, 0.02} }

// print writes the tables: one setting for all traces, each trace with its own, the loads that were made, and the goals
// beside what was got.
func (s summary) print(out io.Writer) error {
	var text strings.Builder
	if trials := s.trials((*trial).counts); len(trials) > 0 {
		s.heading(&text, trials)
		s.oneSetting(&text, trials)
		s.foldersTable(&text, trials)
		s.objectivesTable(&text, trials)
		s.calibrationTable(&text, trials)
		s.perTrace(&text, trials)
		s.firstDayTable(&text)
		s.slowerTable(&text)
		s.cpuTable(&text)
	} else {
		text.WriteString("\nNo trace is as long as a day: there is no summary of one setting for all.\n")
	}
	if made := s.trials((*trial).synthetic); len(made) > 0 {
		fmt.Fprintf(&text, "\n**Synthetic loads with a timetable**: %s\n", strings.Join(names(made), ", "))
		s.objectivesTable(&text, made)
		s.perTrace(&text, made)
	}
	s.goalsTable(&text)
	_, err := io.WriteString(out, text.String())
	return err
}

// trials are those of a kind, in their order.
func (s summary) trials(of func(*trial) bool) []*trial {
	var out []*trial
	for _, r := range s.results {
		if of(r.trial) && !slices.Contains(out, r.trial) {
			out = append(out, r.trial)
		}
	}
	return out
}

// heading names what was played, and which traces the priors are fitted to.
func (s summary) heading(text *strings.Builder, trials []*trial) {
	starting := ""
	if s.options.lead.p90 > 0 {
		starting = fmt.Sprintf(" (the mean of %d draws, the same for all policies; planned with %s)",
			len(s.options.lead.seeds()), s.options.lead.planned())
	}
	fmt.Fprintf(
		text,
		"\nL = %s%s, refresh every %s: %s; families %s weigh equally; cost = GPU-hours / demand, geometric mean\n",
		s.options.lead,
		starting,
		s.options.step,
		strings.Join(names(trials), ", "),
		strings.Join(familiesOf(trials), ", "),
	)
	var learn []string
	for _, r := range s.policies {
		if len(r.stages) > 0 {
			learn = append(learn, r.name)
		}
	}
	if len(learn) == 0 {
		return
	}
	fmt.Fprintf(
		text,
		"\nWhat %s know of other traces beforehand (the prior of the regression, the lateness under each "+
			"multiple or candidate) was fitted anew for each trace, its family left out:\n\n",
		strings.Join(learn, ", "),
	)
	for _, family := range familiesOf(trials) {
		own, others := splitByFamily(trials, family)
		fmt.Fprintf(text, "- %s: without %s, from %s\n",
			strings.Join(names(own), ", "), family, cmp.Or(strings.Join(names(others), ", "), "nothing"))
	}
}

// splitByFamily are the trials of a family, and those of the others.
func splitByFamily(trials []*trial, family string) (own, others []*trial) {
	for _, t := range trials {
		if t.family == family {
			own = append(own, t)
		} else {
			others = append(others, t)
		}
	}
	return own, others
}

func names(trials []*trial) []string {
	var out []string
	for _, t := range trials {
		out = append(out, t.name)
	}
	return out
}

// familiesOf are those of the trials, in their order.
func familiesOf(trials []*trial) []string {
	var out []string
	for _, t := range trials {
		if !slices.Contains(out, t.family) {
			out = append(out, t.family)
		}
	}
	return out
}

// oneSetting is the table of costs at one setting for all traces.
func (s summary) oneSetting(text *strings.Builder, trials []*trial) {
	text.WriteString(
		"\n**One setting for all traces**\n\n" +
			"| policy | at mean late .5 % | 1 % | 2 % | worst trace ≤ 2 % | ≤ 3 % | nearest to 1 %: setting: " +
			"mean, median, worst late, sd log10; churn/h, cost |\n|---|--:|--:|--:|--:|--:|---|\n",
	)
	for _, r := range s.policies {
		if r.hindsight {
			continue
		}
		ones := s.ones(r, trials)
		byMean, byWorst := s.fronts(r, trials)
		fmt.Fprintf(text, "| %s |", r.name)
		for _, late := range matchedLateness() {
			fmt.Fprintf(text, " %s |", formatCost(costAt(byMean, late)))
		}
		for _, late := range []float64{0.02, 0.03} {
			fmt.Fprintf(text, " %s |", formatCost(costAt(byWorst, late)))
		}
		n := nearest(ones, 0.01)
		fmt.Fprintf(text, " %g: %.2f %%, %.2f, %.1f, %.2f; %.0f, %.2f |\n",
			n.setting, 100*n.mean, 100*n.median, 100*n.worst, n.spread, n.churn, n.cost)
	}
}

// foldersTable is the table of costs of one setting for the traces of each folder by themselves.
func (s summary) foldersTable(text *strings.Builder, trials []*trial) {
	var sets []string
	for _, t := range trials {
		if !slices.Contains(sets, t.folder) {
			sets = append(sets, t.folder)
		}
	}
	if len(sets) < 2 {
		return
	}
	text.WriteString(
		"\n**One setting for the traces of a folder**: cost at a mean lateness, families alike; last, at 1 %, " +
			"traces alike\n\n| policy |",
	)
	for _, set := range sets {
		fmt.Fprintf(text, " %s: .5 %% | 1 %% | 2 %% | traces alike |", set)
	}
	text.WriteString("\n|---|" + strings.Repeat("--:|", (len(matchedLateness())+1)*len(sets)) + "\n")
	for _, r := range s.policies {
		if r.hindsight {
			continue
		}
		fmt.Fprintf(text, "| %s |", r.name)
		for _, set := range sets {
			own := s.trials(func(t *trial) bool { return t.counts() && t.folder == set })
			byMean, _ := s.fronts(r, own)
			for _, late := range matchedLateness() {
				fmt.Fprintf(text, " %s |", formatCost(costAt(byMean, late)))
			}
			byMean, _ = frontsOf(s.weighted(r, own, equalWeights(len(own))))
			fmt.Fprintf(text, " %s |", formatCost(costAt(byMean, 0.01)))
		}
		text.WriteString("\n")
	}
}

// fronts are a policy's costs by the mean lateness, and by that of the worst trace.
func (s summary) fronts(r benchPolicy, trials []*trial) (byMean, byWorst []point) {
	return frontsOf(s.ones(r, trials))
}

func frontsOf(ones []settingTotals) (byMean, byWorst []point) {
	for _, o := range ones {
		byMean = append(byMean, point{o.mean, o.cost})
		byWorst = append(byWorst, point{o.worst, o.cost})
	}
	return byMean, byWorst
}

// ones are a policy's settings over the traces, in the order in which they were swept, families counting alike.
func (s summary) ones(r benchPolicy, trials []*trial) []settingTotals {
	return s.weighted(r, trials, trialWeights(trials))
}

// weighted are the same under weights of the traces that sum to 1.
func (s summary) weighted(r benchPolicy, trials []*trial, weights []float64) []settingTotals {
	var of []result
	for _, t := range trials {
		of = append(of, s.of(r, t))
	}
	var out []settingTotals
	for i, first := range of[0].lines {
		var lines []line
		for _, result := range of {
			lines = append(lines, result.lines[i])
		}
		out = append(out, totalsOf(first.Setting, lines, weights))
	}
	return out
}

// forewarm is the policy with an objective; ok is false if it was not played.
func (s summary) forewarm() (r benchPolicy, ok bool) {
	i := slices.IndexFunc(s.policies, func(r benchPolicy) bool { return r.name == "forewarm" })
	if i < 0 {
		return r, false
	}
	return s.policies[i], true
}

func (s summary) of(r benchPolicy, t *trial) result {
	i := slices.IndexFunc(s.results, func(x result) bool { return x.policy.name == r.name && x.trial == t })
	return s.results[i]
}

// nearest is the setting of the nearest mean lateness, as a ratio.
func nearest(ones []settingTotals, late float64) settingTotals {
	best, least := settingTotals{}, math.Inf(1)
	for _, o := range ones {
		if d := math.Abs(math.Log((o.mean + 1e-6) / late)); d < least {
			best, least = o, d
		}
	}
	return best
}

// formatCost is a cost, or a dash if the lateness is out of reach.
func formatCost(cost float64) string {
	if math.IsNaN(cost) {
		return "–"
	}
	return fmt.Sprintf("%.2f", cost)
}

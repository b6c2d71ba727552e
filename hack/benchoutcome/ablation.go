package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// variation is forewarm's shape learnt from more or less than it is.
type variation struct {
	name            string
	models, without []string
}

// variations are the shape as it is, with each model and with all, and without each feature.
func variations() []variation {
	out := []variation{{name: "as it is"}}
	for _, name := range modelNames() {
		out = append(out, variation{name: "with " + name, models: []string{name}})
	}
	out = append(out, variation{name: "with all models", models: modelNames()})
	for _, name := range windowpeak.Columns() {
		out = append(out, variation{name: "without " + name, without: []string{name}})
	}
	return out
}

// ablate prints what each feature and each model is worth: the cost of one multiple for all traces at a mean lateness, and
// how much more it is than with the shape as it is.
func ablate(trials []*trial, o options, out, words io.Writer) error {
	r, err := rivalNamed("forewarm-k")
	if err != nil {
		return err
	}
	o.rivals = []rival{r}
	var text strings.Builder
	fmt.Fprintf(
		&text,
		"\n**What the shape is learnt from**, forewarm-k, L = %s: cost of one multiple for all traces at a mean "+
			"lateness, and over that of the shape as it is\n\n%s",
		o.lead, costsHeading("features"),
	)
	var base costs
	for i, v := range variations() {
		fmt.Fprintf(words, "ablation: %s\n", v.name)
		results, problem := playAll(varied(trials, v), o, words, func(*trial, line) error { return nil })
		if problem != nil {
			return problem
		}
		s := summary{results: results}
		c := s.costs(r, s.trials((*trial).counts))
		if i == 0 {
			base = c
		}
		text.WriteString(c.row(v.name, base))
	}
	_, err = io.WriteString(out, text.String())
	return err
}

// varied are the trials under a variation.
func varied(trials []*trial, v variation) []*trial {
	var traces []recorded
	for _, t := range trials {
		traces = append(traces, t.recorded)
	}
	return newTrials(traces, options{lead: trials[0].lead, step: trials[0].step, models: v.models, without: v.without})
}

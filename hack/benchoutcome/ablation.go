package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// variation is the regression with other inputs.
type variation struct {
	name            string
	models, without []string
}

// variations are the default, with each model and with all, and without each feature.
func variations() []variation {
	out := []variation{{name: "default"}}
	for _, name := range modelNames() {
		out = append(out, variation{name: "with " + name, models: []string{name}})
	}
	out = append(out, variation{name: "with all models", models: modelNames()})
	for _, name := range windowpeak.BaseFeatureNames() {
		out = append(out, variation{name: "without " + name, without: []string{name}})
	}
	return out
}

// ablate prints what each feature and each model is worth: the cost of one headroom for all traces at a mean lateness, and its
// difference to the default.
func ablate(trials []*trial, o options, out, progress io.Writer) error {
	r, err := policyNamed("forewarm-k")
	if err != nil {
		return err
	}
	o.policies = []benchPolicy{r}
	var text strings.Builder
	fmt.Fprintf(
		&text,
		"\n**Inputs of the regression**, forewarm-k, L = %s: cost of one headroom for all traces at a mean "+
			"lateness, and the difference to the default\n\n%s",
		o.lead, costsHeading("features"),
	)
	var base costs
	for i, v := range variations() {
		fmt.Fprintf(progress, "ablation: %s\n", v.name)
		results, problem := playAll(variedTrials(trials, v), o, progress, func(*trial, line) error { return nil })
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

// variedTrials are the trials with a variation.
func variedTrials(trials []*trial, v variation) []*trial {
	var traces []recorded
	for _, t := range trials {
		traces = append(traces, t.recorded)
	}
	return newTrials(traces, options{lead: trials[0].lead, step: trials[0].step, models: v.models, without: v.without})
}

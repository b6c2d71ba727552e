package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
)

const (
	// replicaCapacity is what a replica serves. The HPA reads thousandths of the demand's unit, rounded up: a unit of a replica
	// would make its rounding felt.
	replicaCapacity = 1000
	// meanReplicas is what the mean of every trace is scaled to.
	meanReplicas = 12

	day = 24 * time.Hour
	// nearlyDay is how long a recorded day is at least: one of hours ends 23 hours after its first.
	nearlyDay = 23 * time.Hour
)

// recorded is a column of a trace file, scaled.
type recorded struct {
	name, family string
	demand       forecast.Series
}

// counts says that the trace counts in the figures, and that something may be learnt from it: it is not made here.
func (r recorded) counts() bool { return r.family != scheduledFamily }

// readTraces reads folders one after the other, and leaves out what is shorter than a day.
func readTraces(dirs ...string) ([]recorded, error) {
	var out []recorded
	for _, dir := range dirs {
		traces, err := demandtest.Read(dir)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, r := range traces {
			if time.Duration(r.Series.Len())*r.Series.Step < nearlyDay {
				continue
			}
			if err := demandtest.Scale(r.Series, meanReplicas*replicaCapacity); err != nil {
				return nil, fmt.Errorf("%s in %s: %w", r.Name, dir, err)
			}
			out = append(out, recorded{name: r.Name, family: familyOf(r.File), demand: r.Series})
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s: no trace of a day", dir)
		}
	}
	return out, nil
}

// familyOf is the collection that a trace stems from: traces of one are alike, and count together as much as those of
// another. It is the first word of the name without its number, but for the words that public collections go by.
func familyOf(name string) string {
	word, _, _ := strings.Cut(strings.ToLower(name), "_")
	if unnumbered := strings.TrimRight(word, "0123456789"); unnumbered != "" {
		word = unnumbered
	}
	switch word {
	case "servegen":
		return "sg"
	case "worldcup":
		return "wc"
	case "elb", "tw":
		return "nab"
	case "azure":
		return "az"
	case "gpu", "gen":
		return "gentd"
	default:
		return word
	}
}

package inspect

import (
	"cmp"
	"strings"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// eventTime is the time of an occurrence: "26 Nov 09:00 UTC, for 2 hours".
func eventTime(e v1alpha1.Event) string {
	return e.Start.UTC().Format("2 Jan 15:04 MST") + ", for " + humanize.Period(e.End.Sub(e.Start.Time))
}

// effects describes the effects of occurrences: "19 Nov: 3.1 times the usual demand, with a maximum of 410".
func effects(e v1alpha1.Event) string {
	var out []string
	for _, came := range e.Effects {
		text := "no samples"
		if came.Times != nil && came.Highest != nil {
			text = number(came.Times) + " times the usual demand, with a maximum of " + number(came.Highest)
		}
		out = append(out, came.Start.UTC().Format("2 Jan")+": "+text)
	}
	return cmp.Or(strings.Join(out, "; "), "not in the history")
}

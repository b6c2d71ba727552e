package capacity

import (
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Sentences say what is known, what it rests on and what to do. The unit follows figures, "requests"; it may be empty.
func (e *Estimate) Sentences(unit string) string {
	if unit != "" {
		unit = " " + unit
	}
	ev := e.Evidence
	rests := timesAtLimit(ev.Episodes) + " in " + formatHours(ev.Known) + "."
	carried := ""
	if e.Carried > 0 {
		carried = fmt.Sprintf(" A replica carried up to %s%s while nothing waited, so it sustains at least that.",
			formatLoad(e.Carried), unit)
	}
	switch e.Verdict {
	case Known:
		return fmt.Sprintf("A replica sustains about %s%s (%s to %s); %s%s",
			formatLoad(e.Value), unit, formatLoad(e.Low), formatLoad(e.High), rests, e.stops())
	case Vague:
		return fmt.Sprintf("A replica sustains between %s and %s%s, perhaps %s; %s%s", formatLoad(e.Low),
			formatLoad(e.High), unit, formatLoad(e.Value), rests, e.stops())
	case Gradual:
		return fmt.Sprintf(
			"A replica has no single limit: its queue grows sometimes from %s%s on, mostly from %s on; %s "+
				"Requests may differ in cost: a signal that counts the cost (tokens, not requests) may have a sharper limit.",
			formatLoad(e.Edge), unit, formatLoad(e.Full), rests,
		)
	case Seldom:
		return fmt.Sprintf(
			"Not enough evidence: %s%s Load one replica until its queue grows, or try again after a busy week.", rests,
			carried,
		)
	case Always:
		return fmt.Sprintf(
			"Not enough evidence: requests waited nearly all the time, so the capacity of a replica does "+
				"not show. Add replicas, or check the saturation query: it must be 0 at rest.%s", carried,
		)
	case Unrelated:
		return fmt.Sprintf(
			"No estimate: %s The load of a replica does not explain that: something else limits it, or the "+
				"queries are of different workloads.", rests,
		)
	default:
		return "Not enough evidence: demand, ready replicas and saturation were never known at the same time. Check the " +
			"queries."
	}
}

// stops explains the effect of a plateau on a forecast.
func (e *Estimate) stops() string {
	if !e.Plateaus {
		return ""
	}
	return " The signal stops there, like a count of served requests: it hides demand beyond the limit. Set " +
		"signal.saturated to the queue, or forecast arrivals."
}

// timesAtLimit is the number of episodes in words.
func timesAtLimit(times int) string {
	switch times {
	case 0:
		return "it never reached its limit"
	case 1:
		return "it reached its limit once"
	case 2:
		return "it reached its limit twice"
	}
	return fmt.Sprintf("it reached its limit %d times", times)
}

// formatHours is a length of history, in days where it has two or more.
func formatHours(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return formatLoad(float64(d)/float64(day)) + " days"
	}
	return formatLoad(d.Hours()) + " hours"
}

// formatLoad is a load to as many digits as an estimate has.
func formatLoad(v float64) string { return humanize.Significant(v, 3) }

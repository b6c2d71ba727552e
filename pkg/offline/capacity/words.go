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
	rests := came(ev.Episodes) + " in " + hours(ev.Known) + "."
	carried := ""
	if e.Carried > 0 {
		carried = fmt.Sprintf(" A replica carried up to %s%s while nothing waited, so it sustains that at least.",
			digits(e.Carried), unit)
	}
	switch e.Verdict {
	case Known:
		return fmt.Sprintf("A replica sustains about %s%s (%s to %s); %s%s",
			digits(e.Value), unit, digits(e.Low), digits(e.High), rests, e.stops())
	case Vague:
		return fmt.Sprintf("A replica sustains something between %s and %s%s, perhaps %s; %s%s", digits(e.Low),
			digits(e.High), unit, digits(e.Value), rests, e.stops())
	case Gradual:
		return fmt.Sprintf("A replica comes to its limit at no one load: now and then from %s%s on, mostly from %s "+
			"on; %s What requests ask for may differ: a signal that counts it (tokens, not requests) may have a "+
			"sharper limit.", digits(e.Edge), unit, digits(e.Full), rests)
	case Seldom:
		return fmt.Sprintf("Not enough evidence: %s%s Load one replica until its queue grows, or look again after a "+
			"busy week.", rests, carried)
	case Always:
		return fmt.Sprintf("Not enough evidence: something waited nearly all the time, so nothing shows what a "+
			"replica carries. The service needs more replicas, or the query of its saturation is above 0 at rest.%s",
			carried)
	case Unrelated:
		return fmt.Sprintf("No estimate: %s But that has little to do with the load of a replica. Something else is "+
			"its limit, or the queries are of different workloads.", rests)
	default:
		return "Not enough evidence: demand, ready replicas and saturation were never known at the same time."
	}
}

// stops says what a signal that plateaus means for a forecast.
func (e *Estimate) stops() string {
	if !e.Plateaus {
		return ""
	}
	return " The signal stops there, as a count of what is served does: it hides demand beyond the limit, so name the queue " +
		"in signal.saturated, or forecast what arrives."
}

// came says how often something came to its limit.
func came(times int) string {
	switch times {
	case 0:
		return "it never came to its limit"
	case 1:
		return "it came to its limit once"
	case 2:
		return "it came to its limit twice"
	}
	return fmt.Sprintf("it came to its limit %d times", times)
}

// hours is a length of history, in days where it has two or more.
func hours(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return digits(float64(d)/float64(day)) + " days"
	}
	return digits(d.Hours()) + " hours"
}

// digits is a load to as many digits as an estimate has.
func digits(v float64) string { return humanize.Digits(v, 3) }

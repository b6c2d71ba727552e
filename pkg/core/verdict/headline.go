package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Headline is the verdict in one sentence with the number.
func (v *Verdict) Headline() string {
	text := v.gain()
	switch v.Word {
	case TooEarly:
		return "Too early for a verdict, which needs three days."
	case TooLate:
		return fmt.Sprintf("Too late: %s, but the objective allows only %s.", v.Compared.limited(&v.Compared.Forewarm),
			humanize.ShareAsWritten(v.Compared.Objective))
	case NoDifference:
		return "No difference: " + text
	case CostsMore:
		return "Costs more: " + text
	case Saves:
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Details say what both policies used and how reliable they were, and what the HPA would need for the same reliability.
func (v *Verdict) Details() string {
	if needed := v.needed(); needed != "" && v.Word != TooEarly {
		return v.facts() + " " + needed
	}
	return v.facts()
}

// gain says what Forewarm changes, at equal reliability or at equal cost.
func (v *Verdict) gain() string {
	c := &v.Compared
	equal := v.difference(&v.Forewarm, &v.HPA)
	switch {
	case c.Priced:
		return fmt.Sprintf("Forewarm uses %s than %s%s, including the price of late demand.", equal, c.HPAName,
			v.interval())
	case c.misses(&c.HPA):
		return v.gainOnReliability()
	case v.Stricter:
		return fmt.Sprintf("with the objective %s, Forewarm is as reliable as %s and uses %s%s. With the "+
			"objective %s, it uses %s and %s.", humanize.ShareAsWritten(v.Forewarm.Setting), c.HPAName, equal,
			v.interval(), humanize.ShareAsWritten(c.Objective), v.difference(&c.Forewarm, &c.HPA),
			c.outcome(&c.Forewarm))
	case !v.Equal:
		return fmt.Sprintf("Forewarm and %s both meet the objective, and Forewarm uses %s%s.", c.HPAName, equal,
			v.interval())
	}
	if c.BadHours && c.Forewarm.BadHours < c.HPA.BadHours {
		return fmt.Sprintf("Forewarm %s and uses %s than %s%s.", c.instead(), equal, c.HPAName, v.interval())
	}
	return fmt.Sprintf("Forewarm is as reliable as %s and uses %s%s.", c.HPAName, equal, v.interval())
}

// gainOnReliability is gain for an HPA that misses the objective as written.
func (v *Verdict) gainOnReliability() string {
	c := &v.Compared
	equal, direct := v.difference(&v.Forewarm, &v.HPA), v.difference(&c.Forewarm, &c.HPA)
	switch {
	case v.costsAtMost() && math.Abs(saved(c.Forewarm.Total(), c.HPA.Total())) <= small:
		return fmt.Sprintf("Forewarm %s and uses about as many %s as %s.", c.instead(), c.Unit, c.HPAName)
	case v.costsAtMost():
		return fmt.Sprintf("Forewarm %s and uses %s than %s.", c.instead(), direct, c.HPAName)
	}
	other := "an equally reliable HPA"
	switch {
	case c.onlyForewarm(&v.Pair):
		other = "the HPA with its most reliable target, which still misses the objective"
	case !v.Equal:
		other = "an HPA that meets the objective"
	}
	return fmt.Sprintf("Forewarm uses %s%s than %s. Compared with %s, it %s and uses %s.", equal, v.interval(), other,
		c.HPAName, c.instead(), direct)
}

// costsAtMost reports whether Forewarm, which saves at equal reliability, also costs no more than the HPA as written.
func (v *Verdict) costsAtMost() bool {
	return v.Word == Saves && saved(v.Compared.Forewarm.Total(), v.Compared.HPA.Total()) >= -small
}

// facts are what both used and how reliable they were.
func (v *Verdict) facts() string {
	c := &v.Compared
	var forewarm, hpa string
	if len(c.Draws) > 1 && c.BadHours {
		forewarm = drawn(c.Draws, func(d *Draw) int { return d.ForewarmBadHours })
		hpa = drawn(c.Draws, func(d *Draw) int { return d.HPABadHours })
	}
	return fmt.Sprintf("Over %s, Forewarm uses %s and %s%s; %s uses %s and %s%s.", c.Period, c.cost(&c.Forewarm),
		c.outcome(&c.Forewarm), forewarm, c.HPAName, c.cost(&c.HPA), c.outcome(&c.HPA), hpa)
}

// cost is the cost of an outcome with its unit and, at a price, in dollars.
func (c *Comparison) cost(of *Outcome) string {
	text := humanize.Amount(of.Total()) + " " + c.Unit
	if c.Price > 0 {
		text += " ($" + humanize.Amount(of.Total()*c.Price) + ")"
	}
	return text
}

// drawn is the range of bad hours over the draws of the start times.
func drawn(draws []Draw, badHours func(*Draw) int) string {
	low, high := math.MaxInt, 0
	for i := range draws {
		n := badHours(&draws[i])
		low, high = min(low, n), max(high, n)
	}
	if low == high {
		return ""
	}
	return fmt.Sprintf(" (%d to %d with other pod start times)", low, high)
}

// needed says which settings would make both equally reliable; empty if they already are.
func (v *Verdict) needed() string {
	c := &v.Compared
	switch {
	case v.Stricter:
		return fmt.Sprintf("With the objective %s, Forewarm uses %s and %s.",
			humanize.ShareAsWritten(v.Forewarm.Setting), c.cost(&v.Forewarm), c.outcome(&v.Forewarm))
	case !c.misses(&c.HPA) || v.Word == TooLate:
		return ""
	case !v.Retargeted:
		return "No other target makes the HPA more reliable."
	case !v.Equal:
		return fmt.Sprintf("No target makes the HPA as reliable as Forewarm: even with the target %s, it uses %s "+
			"and %s.", humanize.Number(v.HPA.Setting), c.cost(&v.HPA), c.outcome(&v.HPA))
	}
	text := fmt.Sprintf("To be as reliable as Forewarm, the HPA needs the target %s instead of %s, and then uses %s",
		humanize.Number(v.HPA.Setting), humanize.Number(c.HPA.Setting), c.cost(&v.HPA))
	if v.costsAtMost() {
		text += fmt.Sprintf(". Compared with that target, Forewarm saves %s%s", humanize.LateShare(v.Saved),
			v.interval())
	}
	return text + "."
}

// difference is the cost of one outcome against another: "17% fewer GPU-hours".
func (v *Verdict) difference(of, than *Outcome) string {
	share := saved(of.Total(), than.Total())
	switch {
	case math.IsNaN(share):
		return "an unknown number of " + v.Compared.Unit
	case share < 0:
		return humanize.LateShare(-share) + " more " + v.Compared.Unit
	}
	return humanize.LateShare(share) + " fewer " + v.Compared.Unit
}

// interval is the interval of the saving, in parentheses and with a space before it; empty while it is unknown.
func (v *Verdict) interval() string {
	low, high := v.Low, v.High
	switch {
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return ""
	case low < 0 && high > 0:
		return fmt.Sprintf(" (90%% interval: %s more to %s fewer)", humanize.LateShare(-low), humanize.LateShare(high))
	case v.Saved < 0:
		low, high = -high, -low
	}
	from, to := humanize.LateShare(low), humanize.LateShare(high)
	if from == to {
		return ""
	}
	return fmt.Sprintf(" (90%% interval: %s to %s)", from, to)
}

// limited describes the share that the objective limits.
func (c *Comparison) limited(of *Outcome) string {
	if c.BadHours {
		return humanize.LateShare(of.Share) + " of the demand arrived in bad hours"
	}
	return humanize.LateShare(of.Share) + " of the demand was late"
}

// outcome is how reliable an outcome is, with a verb: "has no bad hour", "is late for 0.37% of the demand".
func (c *Comparison) outcome(of *Outcome) string {
	if !c.BadHours && of.Share > 0 {
		return "is late for " + humanize.LateShare(of.Share) + " of the demand"
	}
	return "has " + c.reliability(of)
}

// reliability is how reliable an outcome is: "no bad hour", "0.37% of the demand late".
func (c *Comparison) reliability(of *Outcome) string {
	switch {
	case !c.BadHours && of.Share == 0:
		return "no late demand"
	case !c.BadHours:
		return humanize.LateShare(of.Share) + " of the demand late"
	case of.BadHours == 0:
		return "no bad hour"
	}
	return humanize.Plural(of.BadHours, "bad hour")
}

// instead compares the reliability of Forewarm and the HPA, with a verb: "has 1 bad hour instead of 9".
func (c *Comparison) instead() string {
	if !c.BadHours {
		return fmt.Sprintf("is late for %s of the demand instead of %s", humanize.LateShare(c.Forewarm.Share),
			humanize.LateShare(c.HPA.Share))
	}
	return fmt.Sprintf("has %s instead of %d", c.reliability(&c.Forewarm), c.HPA.BadHours)
}

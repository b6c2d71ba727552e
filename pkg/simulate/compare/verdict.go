package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// verdict is what is to be known first, in two sentences: forewarm against the autoscaler with the best target in
// hindsight, and the autoscaler as it is.
func (p *plan) verdict(c *Comparison) string {
	forewarm, best, written := c.named(Forewarm), c.named(BestTarget), c.named(HPA)
	if forewarm == nil || best == nil {
		return sentences("Interrupted before Forewarm could be compared.", p.asItIs(written))
	}
	return sentences(p.against(forewarm, best), p.asItIs(written))
}

// against is forewarm beside its rival. A cost alone decides nothing where one of them does not meet the objective.
func (p *plan) against(forewarm, best *Policy) string {
	head := "Forewarm saves: "
	switch {
	case !forewarm.Meets && best.Meets:
		head = "Forewarm loses, as it misses the objective: "
	case !forewarm.Meets && !best.Meets:
		head = "Nothing meets the objective: "
	case forewarm.Meets && !best.Meets:
		head = "Forewarm alone meets the objective: "
	case p.gpuHours(forewarm) > p.gpuHours(best):
		head = "Forewarm loses: "
	}
	which := "its best target in hindsight"
	if !best.Meets {
		which = "its least late target in hindsight"
	}
	return fmt.Sprintf("%sover %s it would have taken %s, %s than this HPA with %s (%s), and %s of the demand would have been "+
		"late against %s, where %s may be.",
		head, days(forewarm.Report.Duration), p.paid(forewarm), p.difference(forewarm, best), which,
		number(best.Target), percent(forewarm.Report.LateShare()), percent(best.Report.LateShare()), percent(p.Objective))
}

// asItIs is what the autoscaler does as it is written.
func (p *plan) asItIs(written *Policy) string {
	if written == nil {
		return ""
	}
	return fmt.Sprintf("The HPA as it is written (%s) would have taken %s with %s late.",
		number(written.Target), p.paid(written), percent(written.Report.LateShare()))
}

func (p *plan) gpuHours(of *Policy) float64 { return of.Report.Replicas * p.GPUs }

// paid is "1,234 GPU-hours", with what they cost where a price was given.
func (p *plan) paid(of *Policy) string { return hours(p.gpuHours(of)) + " GPU-hours" + p.dollars(p.gpuHours(of)) }

func (p *plan) dollars(gpuHours float64) string {
	if p.GPUPrice == 0 {
		return ""
	}
	return " ($" + hours(gpuHours*p.GPUPrice) + ")"
}

// difference is "210 (14.5 %) fewer".
func (p *plan) difference(of, than *Policy) string {
	saved := p.gpuHours(than) - p.gpuHours(of)
	word := "fewer"
	if saved < 0 {
		word = "more"
	}
	share := "–"
	if all := p.gpuHours(than); all > 0 {
		share = percent(math.Abs(saved) / all)
	}
	return fmt.Sprintf("%s%s or %s %s", hours(math.Abs(saved)), p.dollars(math.Abs(saved)), share, word)
}

// hours are a number with commas, in whole where there are many.
func hours(v float64) string {
	digits := 0
	if v < 100 {
		digits = 1
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// percent is a share in percent, with two digits that say something.
func percent(share float64) string {
	switch v := 100 * share; {
	case v == 0:
		return "0 %"
	case v < 0.01:
		return "under 0.01 %"
	case v < 1:
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	case v < 10:
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " %"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	}
}

// number is a quantity as people write it.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// days is a duration in the largest unit that tells it.
func days(d time.Duration) string {
	if d >= 2*day {
		return strconv.FormatFloat(math.Round(d.Hours()/24*10)/10, 'f', -1, 64) + " days"
	}
	return strconv.FormatFloat(math.Round(d.Hours()*10)/10, 'f', -1, 64) + " hours"
}

package compare

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// verdict is what is to be known first, in two sentences: forewarm against the autoscaler with the best target in
// hindsight, and the autoscaler as it is.
func (c *Comparison) verdict() string {
	forewarm, best, written := c.named(Forewarm), c.named(BestTarget), c.named(HPA)
	if forewarm == nil || best == nil {
		missing := ""
		if c.Partial {
			missing = "Interrupted before Forewarm could be compared."
		}
		return sentences(missing, c.asItIs(written))
	}
	return sentences(c.against(forewarm, best), c.asItIs(written))
}

// against is forewarm beside its rival. A cost alone decides nothing where one of them does not meet the objective.
func (c *Comparison) against(forewarm, best *Policy) string {
	head := "Forewarm saves: "
	switch {
	case !forewarm.Meets && best.Meets:
		head = "Forewarm loses, as it misses the objective: "
	case !forewarm.Meets && !best.Meets:
		head = "Neither meets the objective: with Forewarm, "
	case forewarm.Meets && !best.Meets:
		head = "Forewarm alone meets the objective: "
	case c.gpuHours(&forewarm.Report) > c.gpuHours(&best.Report):
		head = "Forewarm loses: "
	}
	which := "its best target in hindsight"
	if !best.Meets {
		which = "its least late target in hindsight"
	}
	got, rival := &forewarm.Report, &best.Report
	return fmt.Sprintf(
		"%sover %s it would have taken %s, %s than this HPA with %s (%s), and %s of the demand would have "+
			"been late against %s, where %s may be.",
		head,
		days(got.Duration),
		c.paid(got),
		c.difference(got, rival),
		which,
		number(best.Target),
		humanize.Share(got.LateShare()),
		humanize.Share(rival.LateShare()),
		humanize.Asked(c.Assumptions.Objective),
	)
}

// asItIs is what the autoscaler does as it is written.
func (c *Comparison) asItIs(written *Policy) string {
	if written == nil {
		return ""
	}
	return fmt.Sprintf("The HPA as it is written (%s) would have taken %s with %s late.",
		number(written.Target), c.paid(&written.Report), humanize.Share(written.Report.LateShare()))
}

func (c *Comparison) gpuHours(of *simulate.Report) float64 { return of.Replicas * c.Assumptions.GPUs }

// paid is "1,234 GPU-hours", with what they cost where a price was given.
func (c *Comparison) paid(of *simulate.Report) string {
	return humanize.Amount(c.gpuHours(of)) + " GPU-hours" + c.dollars(c.gpuHours(of))
}

func (c *Comparison) dollars(gpuHours float64) string {
	if c.Assumptions.GPUPrice == 0 {
		return ""
	}
	return " ($" + humanize.Amount(gpuHours*c.Assumptions.GPUPrice) + ")"
}

// difference is "210 ($640) or 14.5% fewer".
func (c *Comparison) difference(of, than *simulate.Report) string {
	saved := c.gpuHours(than) - c.gpuHours(of)
	word := "fewer"
	if saved < 0 {
		word = "more"
	}
	share := "–"
	if all := c.gpuHours(than); all > 0 {
		share = humanize.Share(math.Abs(saved) / all)
	}
	return fmt.Sprintf("%s%s or %s %s", humanize.Amount(math.Abs(saved)), c.dollars(math.Abs(saved)), share, word)
}

// number is a quantity as people write it.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// days is a duration in the largest unit that tells it.
func days(d time.Duration) string {
	if d.Round(time.Hour) >= 2*day {
		return strconv.FormatFloat(math.Round(d.Hours()/24*10)/10, 'f', -1, 64) + " days"
	}
	return strconv.FormatFloat(math.Round(d.Hours()*10)/10, 'f', -1, 64) + " hours"
}

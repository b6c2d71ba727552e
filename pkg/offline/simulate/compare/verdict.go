package compare

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// verdict compares Forewarm with the autoscaler with the best target in hindsight, and adds the autoscaler as
// written.
func (c *Comparison) verdict() string {
	forewarm, best, written := c.Find(Forewarm), c.Find(BestTarget), c.Find(HPA)
	if forewarm == nil || best == nil {
		missing := ""
		if c.Partial {
			missing = "Interrupted before Forewarm was compared."
		}
		return joinSentences(missing, c.describeAsWritten(written))
	}
	return joinSentences(c.describeAgainst(forewarm, best), c.describeAsWritten(written))
}

// describeAgainst compares Forewarm with the best target. Cost alone decides only if both meet the objective.
func (c *Comparison) describeAgainst(forewarm, best *PolicyResult) string {
	head := "Forewarm saves. "
	switch {
	case !forewarm.MeetsObjective && best.MeetsObjective:
		head = "Forewarm loses: it misses the objective. "
	case !forewarm.MeetsObjective && !best.MeetsObjective:
		head = "Neither meets the objective. "
	case forewarm.MeetsObjective && !best.MeetsObjective:
		head = "Only Forewarm meets the objective. "
	case c.gpuHours(&forewarm.Report) > c.gpuHours(&best.Report):
		head = "Forewarm loses: it costs more. "
	}
	which := "its best target in hindsight"
	if !best.MeetsObjective {
		which = "its least late target in hindsight"
	}
	got, rival := &forewarm.Report, &best.Report
	return fmt.Sprintf(
		"%sOver %s Forewarm would have used %s: %s than this HPA with %s (%s). It would have had %s, "+
			"and the HPA %s; the objective is %s.", head, formatDays(got.Duration), c.gpuHoursText(got),
		c.savingText(got, rival), which, formatNumber(best.Target), c.limitedText(got), c.limitedText(rival),
		humanize.ShareAsWritten(c.Assumptions.Objective),
	)
}

// limitedText is what the objective limits, and how much of it there was.
func (c *Comparison) limitedText(of *simulate.Report) string {
	b := &of.BadHours
	switch {
	case !c.Assumptions.BadHours:
		return humanize.Share(of.LateShare()) + " of the demand late"
	case b.Count == 0:
		return "no bad hour"
	}
	return fmt.Sprintf("%s (%s of the demand)", humanize.Plural(b.Count, "bad hour"), humanize.Share(b.Share()))
}

// describeAsWritten is the result of the autoscaler as written.
func (c *Comparison) describeAsWritten(written *PolicyResult) string {
	if written == nil {
		return ""
	}
	return fmt.Sprintf("Before, the HPA as written (%s) would have used %s with %s.",
		formatNumber(written.Target), c.gpuHoursText(&written.Report), c.limitedText(&written.Report))
}

// Saved is how many GPU-hours Forewarm uses less than the autoscaler with its best target, and whether the verdict is that it
// loses; 0 where one of them was not played.
func (c *Comparison) Saved() (gpuHours float64, loses bool) {
	forewarm, best := c.Find(Forewarm), c.Find(BestTarget)
	if forewarm == nil || best == nil {
		return 0, false
	}
	gpuHours = c.gpuHours(&best.Report) - c.gpuHours(&forewarm.Report)
	return gpuHours, best.MeetsObjective && (!forewarm.MeetsObjective || gpuHours < 0)
}

func (c *Comparison) gpuHours(of *simulate.Report) float64 {
	return of.ReplicaHours * c.Assumptions.GPUs
}

// gpuHoursText is "1,234 GPU-hours", with what they cost where a price was given.
func (c *Comparison) gpuHoursText(of *simulate.Report) string {
	return humanize.Amount(c.gpuHours(of)) + " GPU-hours" + c.dollarsText(c.gpuHours(of))
}

func (c *Comparison) dollarsText(gpuHours float64) string {
	if c.Assumptions.GPUPrice == 0 {
		return ""
	}
	return " ($" + humanize.Amount(gpuHours*c.Assumptions.GPUPrice) + ")"
}

// savingText is "210 ($640) or 14.5% fewer".
func (c *Comparison) savingText(of, than *simulate.Report) string {
	saved := c.gpuHours(than) - c.gpuHours(of)
	word := "fewer"
	if saved < 0 {
		word = "more"
	}
	share := "–"
	if all := c.gpuHours(than); all > 0 {
		share = humanize.Share(math.Abs(saved) / all)
	}
	return fmt.Sprintf("%s%s or %s %s", humanize.Amount(math.Abs(saved)), c.dollarsText(math.Abs(saved)), share, word)
}

// formatNumber is a quantity as people write it.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatDays is a duration in days or hours.
func formatDays(d time.Duration) string {
	if d.Round(time.Hour) >= 2*day {
		return strconv.FormatFloat(math.Round(d.Hours()/24*10)/10, 'f', -1, 64) + " days"
	}
	return strconv.FormatFloat(math.Round(d.Hours()*10)/10, 'f', -1, 64) + " hours"
}

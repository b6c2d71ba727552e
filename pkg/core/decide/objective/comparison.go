package objective

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// judge compares the first goal with the HPA before, and with the same at other targets, over the hours of what was served. The verdict
// changes only with the hours, so it is kept until then.
func (o *Calibrator) judge(served *past, rivals []Rival) *verdict.Verdict {
	if o.judgedPast == served {
		return o.judged
	}
	o.judged, o.judgedPast = nil, served
	if !(served.Arrived > 0) {
		return nil
	}
	goal, hours := o.goals[0].goal, served.hours
	c := verdict.Comparison{
		Objective: goal.Late, BadHours: goal.BadHours, Priced: goal.Price > 0, Unit: "replica-hours",
		Period: "the last " + humanize.Period(time.Duration(hours)*time.Hour), HPAName: "your HPA",
		Forewarm: outcome(goal, goal.Late, served.Account, o.dailyCost(hours, func(ago int) (paid, late float64) {
			h := o.published.hours.ring.Ref(ago)
			return h.paid, h.late
		})),
	}
	if !(o.config.Before.Target > 0) {
		c.HPAName = fmt.Sprintf("an HPA at %.0f%% of a replica's capacity", 100*AssumedTarget)
	}
	for i, r := range rivals {
		c.Targets = append(
			c.Targets,
			outcome(goal, r.Target, r.Account, o.dailyCost(hours, func(ago int) (paid, late float64) {
				h := o.rivals.hours.Ref(ago)
				return float64(h.paid[i]), float64(h.late[i])
			})),
		)
	}
	c.HPA, c.Targets = c.Targets[0], c.Targets[1:]
	v := c.Judge()
	o.judged = &v
	return o.judged
}

// outcome is an account as the verdict reads it.
func outcome(goal Goal, setting float64, a Account, cost []float64) verdict.Outcome {
	return verdict.Outcome{Setting: setting, Cost: cost, Share: a.share(goal), BadHours: a.BadHours}
}

// dailyCost are the replica-hours of each day, with the first goal's price of late demand.
func (o *Calibrator) dailyCost(hours int, of func(ago int) (paid, late float64)) []float64 {
	out := make([]float64, hours)
	for i := range out {
		paid, late := of(hours - 1 - i)
		out[i] = paid + math.Max(o.goals[0].goal.Price, 0)*late
	}
	return verdict.Days(out)
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// judge compares Forewarm with the HPA at equal reliability; nil if one of them was not simulated.
func (p *plan) judge(ctx context.Context) (*verdict.Verdict, error) {
	if p.forewarm == nil || p.asWritten == nil {
		return nil, nil //nolint:nilnil // There is no verdict then.
	}
	v := &verdict.Comparison{
		Objective: p.Objective, BadHours: p.BadHours, Unit: "GPU-hours", Price: p.GPUPrice,
		Period: formatDays(p.forewarm.Report.Duration), HPAName: "your HPA",
		Forewarm: p.outcome(p.Objective, &p.forewarm.Report), HPA: p.outcome(p.asWritten.Target, &p.asWritten.Report),
	}
	for _, o := range p.others {
		if o.objective < p.Objective {
			v.Stricter = append(v.Stricter, p.outcome(o.objective, &o.report))
		}
	}
	for i, r := range hindsightPolicies() {
		if s := p.sweeps[i]; s != nil && r.name == BestTarget {
			for _, t := range s.all {
				v.Targets = append(v.Targets, p.outcome(inUnits(t.target), &t.report))
			}
		}
	}
	if err := p.addDraws(ctx, v); err != nil {
		return nil, err
	}
	out := v.Judge()
	return &out, nil
}

// outcome converts a report for the verdict.
func (p *plan) outcome(setting float64, r *simulate.Report) verdict.Outcome {
	cost := verdict.Days(r.Hourly)
	floats.Scale(p.GPUs, cost)
	return verdict.Outcome{
		Setting: setting, Cost: cost, Share: r.WorstShare(p.BadHours), BadHours: r.BadHours.Count,
	}
}

// draws is the number of draws of start times for the interval of a verdict.
const draws = 8

// addDraws simulates the pair of a comparison, and the HPA as written, with other draws of the start times, if start times vary.
func (p *plan) addDraws(ctx context.Context, v *verdict.Comparison) error {
	if p.Lead.P90 <= p.Lead.Median && (p.Node == nil || p.Node.P90 <= p.Node.Median) {
		return nil
	}
	observed, err := p.values(simulate.NewObserved())
	if err != nil {
		return err
	}
	pair := v.Pair()
	served := p.served.values[0]
	for _, o := range p.others {
		if pair.Stricter && o.objective == pair.Forewarm.Setting {
			served = o.values
		}
	}
	drawn := make([]verdict.Draw, draws)
	jobs := make([]job, draws)
	for i := range jobs {
		jobs[i] = job{what: "draws of start times", do: func(func(int)) (err error) {
			drawn[i], err = p.draw(uint64(i), observed, served, &pair)
			return err
		}}
	}
	if err = runJobs(ctx, p.Workers, jobs, nil); err == nil && ctx.Err() == nil {
		v.Draws = drawn
	}
	return err
}

// draw simulates the pair with another draw of the start times. served are the values that Forewarm serves in the pair. It also simulates
// both policies as they are. The first draw is the one in the tables.
func (p *plan) draw(number uint64, observed, served []float64, pair *verdict.Pair) (verdict.Draw, error) {
	var problems error
	play := func(values []float64, target int64) simulate.Report {
		c := p.config(target)
		if number > 0 { // Forewarm's own simulated autoscalers use seed 1.
			c.Seed = number + 1
		}
		report, err := simulate.Run(c, simulate.NewTape(values))
		problems = errors.Join(problems, err)
		return report
	}
	asServed, asWritten := play(p.served.values[0], p.capacityTarget()), play(observed, p.target())
	forewarm, other := asServed, asWritten
	if pair.Stricter {
		forewarm = play(served, p.capacityTarget())
	}
	if pair.Retargeted {
		other = play(observed, int64(math.Round(pair.HPA.Setting*1000))) //nolint:mnd // Milli-units.
	}
	return verdict.Draw{
		Forewarm: forewarm.ReplicaHours * p.GPUs, HPA: other.ReplicaHours * p.GPUs,
		ForewarmBadHours: asServed.BadHours.Count, HPABadHours: asWritten.BadHours.Count,
	}, problems
}

// verdict describes the result: a comparison with the HPA as written, and with the same HPA at its best target in hindsight.
func (c *Comparison) verdict() string {
	var asWritten string
	switch written := c.Find(HPA); {
	case c.Judged != nil:
		asWritten = c.Judged.Headline() + " " + c.Judged.Details()
	case written != nil:
		asWritten = fmt.Sprintf("The HPA as configured (target %s) uses %s, with %s.",
			formatNumber(written.Target), c.gpuHoursText(&written.Report), c.limitedText(&written.Report))
	}
	if c.Partial && (c.Find(Forewarm) == nil || c.Find(BestTarget) == nil) {
		return joinSentences("The simulation was interrupted before Forewarm was compared.", asWritten)
	}
	return joinSentences(asWritten, c.againstBest())
}

// againstBest compares Forewarm with the best target in hindsight.
func (c *Comparison) againstBest() string {
	forewarm, best := c.Find(Forewarm), c.Find(BestTarget)
	if forewarm == nil || best == nil {
		return ""
	}
	which := "the cheapest HPA target that meets the objective"
	if !best.MeetsObjective {
		which = "the most reliable HPA target"
	}
	used := "Forewarm uses the same number of GPU-hours."
	if saved := c.gpuHours(&best.Report) - c.gpuHours(&forewarm.Report); saved != 0 {
		used = fmt.Sprintf(
			"Forewarm uses %s %s GPU-hours, a difference of %s.",
			humanize.Percent(
				math.Abs(saved)/c.gpuHours(&best.Report),
			),
			fewerOrMore(saved),
			c.hoursText(math.Abs(saved)),
		)
	}
	if v := c.Judged; v != nil && v.Retargeted && v.HPA.Setting == best.Target {
		return "This is the best HPA target in hindsight. " + used
	}
	return fmt.Sprintf("In hindsight, %s is %s. At this target, the HPA uses %s, with %s. %s", which,
		formatNumber(best.Target), c.gpuHoursText(&best.Report), c.limitedText(&best.Report), used)
}

// limitedText describes the share that the objective limits.
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

func (c *Comparison) gpuHours(of *simulate.Report) float64 {
	return of.ReplicaHours * c.Assumptions.GPUs
}

// gpuHoursText returns for example "1,234 GPU-hours", with their cost if there is a price.
func (c *Comparison) gpuHoursText(of *simulate.Report) string { return c.hoursText(c.gpuHours(of)) }

func (c *Comparison) hoursText(gpuHours float64) string {
	return humanize.Amount(gpuHours) + " GPU-hours" + c.dollarsText(gpuHours)
}

func (c *Comparison) dollarsText(gpuHours float64) string {
	if c.Assumptions.GPUPrice == 0 {
		return ""
	}
	return " ($" + humanize.Amount(gpuHours*c.Assumptions.GPUPrice) + ")"
}

// savingText returns for example "210 GPU-hours ($640) or 14.5% fewer".
func (c *Comparison) savingText(of, than *simulate.Report) string {
	saved := c.gpuHours(than) - c.gpuHours(of)
	share := "–"
	if all := c.gpuHours(than); all > 0 {
		share = humanize.Share(math.Abs(saved) / all)
	}
	return fmt.Sprintf("%s or %s %s", c.hoursText(math.Abs(saved)), share, fewerOrMore(saved))
}

func fewerOrMore(saved float64) string {
	if saved < 0 {
		return "more"
	}
	return "fewer"
}

// formatNumber formats a quantity as people write it.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatDays formats a duration in days or hours.
func formatDays(d time.Duration) string {
	if d.Round(time.Hour) >= 2*day {
		return strconv.FormatFloat(math.Round(d.Hours()/24*10)/10, 'f', -1, 64) + " days"
	}
	return strconv.FormatFloat(math.Round(d.Hours()*10)/10, 'f', -1, 64) + " hours"
}

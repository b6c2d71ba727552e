// Package verdict compares Forewarm with the HPA that a workload has today, over one period and at equal reliability. The result is one
// word, one number with its interval, and a sentence. The page, the status of a Forecast and forewarm simulate use it.
package verdict

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Word is the result of a comparison.
type Word string

// The words. Scripts may rely on them.
const (
	// Saves: Forewarm costs less.
	Saves Word = "saves"
	// NoDifference: the costs differ by 2 % at most, or by less than their interval.
	NoDifference Word = "no difference"
	// CostsMore: Forewarm costs more.
	CostsMore Word = "costs more"
	// TooLate: Forewarm misses the objective.
	TooLate Word = "too late"
	// TooEarly: fewer than three days are known.
	TooEarly Word = "too early"
)

const (
	// small is the largest cost difference, as a share, that counts as no difference.
	small = 0.02
	// slack is how much later one policy may be than the other and still count as equally reliable, as a share of the objective.
	slack = 0.1
	// minDays is the number of days that an interval and a verdict need.
	minDays = 3
)

// Outcome is the result of a policy with one setting.
type Outcome struct {
	// Setting is a target in the metric's unit, or Forewarm's objective.
	Setting float64
	// Cost of each day, in the comparison's unit.
	Cost []float64
	// Share of the demand that the objective limits: late demand, or demand in bad hours.
	Share float64
	// BadHours is the number of bad hours.
	BadHours int
}

// Total is the cost of all days.
func (o *Outcome) Total() float64 {
	return floats.Sum(o.Cost)
}

// Comparison contains the outcomes to compare. The costs of all outcomes are for the same days.
type Comparison struct {
	// Objective is the share of the demand that may be late or, with BadHours, may arrive in bad hours.
	Objective float64
	BadHours  bool
	// Priced: there is no objective, and the costs contain the price of late demand.
	Priced bool
	// Unit is the unit of the costs: "GPU-hours". Price is the price of a unit in dollars; 0 if there is none.
	Unit  string
	Price float64
	// Period is a phrase: "19 days". HPAName is what sentences call the HPA: "your HPA".
	Period, HPAName string
	// Forewarm is the outcome with the objective. Stricter are the outcomes with stricter objectives, if they are known.
	Forewarm Outcome
	Stricter []Outcome
	// HPA is the outcome of the autoscaler as written. Targets are its outcomes with other targets.
	HPA     Outcome
	Targets []Outcome
	// Draws are the costs and bad hours under other draws of the start times, if starts vary.
	Draws []Draw
}

// Draw is the outcome of the pair of a comparison, and of the HPA as written, under another draw of the start times.
type Draw struct {
	// Forewarm and HPA are the total costs of the pair.
	Forewarm, HPA float64
	// ForewarmBadHours and HPABadHours are the bad hours with Forewarm at its objective, and with the HPA as written.
	ForewarmBadHours, HPABadHours int
}

// Pair is two outcomes that are equally reliable, as far as the settings allow.
type Pair struct {
	Forewarm, HPA Outcome
	// Stricter: Forewarm has a stricter objective than its own. Retargeted: the HPA has a different target than its own.
	Stricter, Retargeted bool
	// Equal: both are equally reliable, or the unchanged one is more reliable. If false, no known setting is as reliable.
	Equal bool
}

// Pair selects the outcomes whose costs are compared. If Forewarm is as reliable as the HPA as written, and that HPA meets the objective,
// Pair compares these two. Otherwise, the less reliable one gets its cheapest setting that is as reliable as the other one. If there is no
// such setting, the HPA gets its cheapest target that meets the objective, or else its most reliable target.
func (c *Comparison) Pair() Pair {
	forewarm, hpa := &c.Forewarm, &c.HPA
	out := Pair{Forewarm: *forewarm, HPA: *hpa, Equal: c.Priced || c.asReliable(forewarm, hpa)}
	switch {
	case c.Priced, c.misses(forewarm):
	case !out.Equal:
		if stricter := c.cheapest(c.Stricter, hpa); stricter != nil {
			out.Forewarm, out.Stricter, out.Equal = *stricter, true, true
		}
	case c.misses(hpa):
		target := c.cheapest(c.Targets, forewarm)
		if out.Equal = target != nil; !out.Equal {
			target = cmp.Or(c.cheapest(c.Targets, &Outcome{Share: c.Objective * (1 - slack)}), c.lowestShare())
		}
		out.HPA, out.Retargeted = *target, target != hpa
	}
	return out
}

// misses reports whether an outcome misses the objective.
func (c *Comparison) misses(of *Outcome) bool { return !c.Priced && of.Share > c.Objective }

// asReliable reports whether an outcome is as reliable as another.
func (c *Comparison) asReliable(of, as *Outcome) bool { return of.Share <= as.Share+slack*c.Objective }

// cheapest returns the cheapest outcome that is as reliable as another; nil if there is none.
func (c *Comparison) cheapest(all []Outcome, as *Outcome) *Outcome {
	var best *Outcome
	for i := range all {
		if one := &all[i]; c.asReliable(one, as) && (best == nil || one.Total() < best.Total()) {
			best = one
		}
	}
	return best
}

// lowestShare returns the outcome of the HPA with the smallest share, as written or with another target. If several are equal, it returns
// the cheapest one.
func (c *Comparison) lowestShare() *Outcome {
	best := &c.HPA
	for i := range c.Targets {
		one := &c.Targets[i]
		if cmp.Or(cmp.Compare(one.Share, best.Share), cmp.Compare(one.Total(), best.Total())) < 0 {
			best = one
		}
	}
	return best
}

// Verdict is the result of a comparison.
type Verdict struct {
	Pair

	Word Word
	// Saved is the share of the HPA's cost that Forewarm saves at equal reliability; negative if Forewarm costs more. Its 90 % interval
	// goes from Low to High. To compute it, each day is left out in turn and, if start times vary, other draws of the start times are used.
	// Saved is NaN if there is no cost. The interval is unbounded for fewer than three days.
	Saved, Low, High float64
	// Compared is what was compared.
	Compared Comparison
}

// Judge compares the outcomes and returns the verdict.
func (c *Comparison) Judge() Verdict {
	v := Verdict{Pair: c.Pair(), Compared: *c}
	v.Saved = saved(v.Forewarm.Total(), v.HPA.Total())
	v.Low, v.High = c.interval(v.Forewarm.Cost, v.HPA.Cost)
	v.Word = c.word(&v)
	return v
}

func (c *Comparison) word(v *Verdict) Word {
	switch {
	case len(c.Forewarm.Cost) < minDays || math.IsNaN(v.Saved):
		return TooEarly
	case c.misses(&c.Forewarm):
		return TooLate
	case c.onlyForewarm(&v.Pair):
		if v.Saved >= -small { // The HPA is less reliable at the same cost.
			return Saves
		}
		return CostsMore
	case math.Abs(v.Saved) <= small, v.Low < 0 && v.High > 0:
		return NoDifference
	case v.Saved > 0:
		return Saves
	}
	return CostsMore
}

// onlyForewarm reports whether no known target keeps the HPA within the objective, and Forewarm is within it.
func (c *Comparison) onlyForewarm(p *Pair) bool { return !c.misses(&c.Forewarm) && c.misses(&p.HPA) }

// saved returns the share of one cost that another one saves; NaN if there is no cost.
func saved(cost, of float64) float64 {
	if !(of > 0) {
		return math.NaN()
	}
	return 1 - cost/of
}

// Days sums the costs of hours, oldest first, into costs of days. Remaining hours that do not fill a day are added to the newest day.
func Days(hours []float64) []float64 {
	const whole = 24
	out := make([]float64, 0, max(len(hours)/whole, 1))
	for i, v := range hours {
		if i == 0 || i%whole == 0 && len(hours)-i >= whole {
			out = append(out, 0)
		}
		out[len(out)-1] += v
	}
	return out
}

package decide

import (
	"fmt"
	"math"
)

// Scored is one candidate as a gate sees it.
type Scored struct {
	Name string
	// Loss is what is to be least; NaN while it is not known.
	Loss float64
	// Fit to serve: it meets the objective, or is calibrated where a quantile is served.
	Fit bool
	// Baseline: one that costs nothing.
	Baseline bool
}

// Choice is which candidate serves, and why: with the numbers of the hour in which it was chosen.
type Choice struct {
	Why Why
	// Loss is what candidates are chosen by.
	Loss Loss
	// Name of the one that serves, Before that of the one that served until then; their losses.
	Name, Before         string
	NameLoss, BeforeLoss float64
	// Hours on end for which the loss was lower, where it was Cheaper.
	Hours int
}

// Why a candidate serves.
type Why string

const (
	// First in the order of candidates: no other one has proved to be better.
	First Why = "First"
	// Relief of one that is no longer fit to serve.
	Relief Why = "Relief"
	// Cheaper than the one before for long enough.
	Cheaper Why = "Cheaper"
)

// Loss is what candidates are chosen by.
type Loss string

const (
	// Pinball is the mean loss of the quantile that is served, as a share of the demand (Koenker & Bassett 1978).
	Pinball Loss = "pinball loss"
	// Bill is what simulated autoscalers pay, in replica-hours over those of the demand.
	Bill Loss = "cost"
	// PricedBill is that, with what is late at its price.
	PricedBill Loss = "cost, lateness priced in,"
)

// Words are the choice in a sentence.
func (c Choice) Words() string {
	switch c.Why {
	case Relief:
		return fmt.Sprintf(
			"%s took over at a %s of %.3g: %s no longer meets what is asked",
			c.Name,
			c.Loss,
			c.NameLoss,
			c.Before,
		)
	case Cheaper:
		text := fmt.Sprintf(
			"%s took over at a %s of %.3g: that of %s was %.3g",
			c.Name,
			c.Loss,
			c.NameLoss,
			c.Before,
			c.BeforeLoss,
		)
		if c.Loss != Pinball {
			text += fmt.Sprintf(", and higher for %d hours on end", c.Hours)
		}
		return text
	case First:
	}
	text := fmt.Sprintf("%s serves: the %s of no other candidate was lower by %.0f%%", c.Name, c.Loss, 100*gain)
	if c.Loss != Pinball {
		text += fmt.Sprintf(" for %d hours on end", promotion)
	}
	return text
}

const (
	// gain is by how much lower a challenger's loss must be, as a share.
	gain = 0.03
	// promotion is for how many hours on end a bill must be, where it is just so much lower; twice as much takes half as long,
	// but leastPromotion. On recorded demand a day's proof of little was luck more often than not: who was promoted on it
	// cost more from then on than who had served. A pinball loss, which every window tells something of, is taken at its word.
	promotion      = 72
	leastPromotion = 24
	// relief is how many times the loss may be that of a candidate which is fit when who serves no longer is.
	relief = 1.5
)

// Gate chooses which candidate serves: the first, until another one's loss has been lower for long enough. The zero Gate has
// chosen the first.
type Gate struct {
	// Loss is what is to be least.
	Loss Loss

	serving int
	// challenger has lost less for so many hours, and so much less in sum: a tenth of the loss for ten hours is 1.
	challenger, hours int
	gained            float64
	choice            Choice
}

// Serving is the index of the candidate that serves.
func (g *Gate) Serving() int { return g.serving }

// Choice is which of the candidates serves, and why.
func (g *Gate) Choice(all []Scored) Choice {
	if g.choice.Why == "" {
		return Choice{Why: First, Loss: g.Loss, Name: all[g.serving].Name}
	}
	return g.choice
}

// Choose looks at the scores of all candidates: once an hour where they are bills, at every step where they are pinball losses.
// The candidates are the same in the same order each time.
func (g *Gate) Choose(all []Scored) {
	now, best := all[g.serving], g.challengerOf(all)
	switch {
	case best < 0:
		g.hours = 0
	case !now.Fit && !(all[best].Loss > relief*now.Loss):
		g.promote(Choice{Why: Relief}, best, all)
	case !(g.weighed(all, best) <= g.weighed(all, g.serving)):
		g.hours = 0
	default:
		g.challenge(best, 1-all[best].Loss/now.Loss, all)
	}
}

// challenge counts an hour for which a candidate's loss was lower by enough.
func (g *Gate) challenge(by int, share float64, all []Scored) {
	if g.challenger != by || g.hours == 0 {
		g.challenger, g.hours, g.gained = by, 0, 0
	}
	g.hours++
	g.gained += share
	if g.Loss == Pinball || g.hours >= leastPromotion && g.gained >= promotion*gain*(1-1e-9) {
		g.promote(Choice{Why: Cheaper, Hours: g.hours}, by, all)
	}
}

func (g *Gate) promote(c Choice, to int, all []Scored) {
	c.Loss, c.Name, c.NameLoss = g.Loss, all[to].Name, all[to].Loss
	c.Before, c.BeforeLoss = all[g.serving].Name, all[g.serving].Loss
	g.choice, g.serving, g.challenger, g.hours = c, to, to, 0
}

// challengerOf is the index of the challenger that is fit and loses least, the first of equals; −1 where none is known to.
func (g *Gate) challengerOf(all []Scored) int {
	best, least := -1, math.Inf(1)
	for i := range all {
		if loss := g.weighed(all, i); i != g.serving && all[i].Fit && loss < least {
			best, least = i, loss
		}
	}
	return best
}

// weighed is a loss as it is compared: that of the one that serves is lower by the gain that is asked of a challenger. Of a
// baseline none is asked against a model: nobody should pay for one that is no better.
func (g *Gate) weighed(all []Scored, i int) float64 {
	if i == g.serving || all[i].Baseline && !all[g.serving].Baseline {
		return (1 - gain) * all[i].Loss
	}
	return all[i].Loss
}

package decide

import (
	"fmt"
	"math"
)

// CandidateScore is what a selector compares of one candidate.
type CandidateScore struct {
	Name string
	// Loss by the selector's criterion: lower is better. NaN while it is unknown.
	Loss float64
	// Eligible: the candidate meets the objective or, if a quantile is served, is calibrated.
	Eligible bool
	// Baseline is true for the last value, the running maximum, the last season and the last week.
	Baseline bool
}

// SelectionReason is which candidate is selected, and why, with the numbers of the step at which it was selected.
type SelectionReason struct {
	Rule SelectionRule
	// Criterion by which candidates are compared.
	Criterion criterion
	// Selected and Previous candidate, and their losses.
	Selected, Previous         string
	SelectedLoss, PreviousLoss float64
	// Hours in a row for which the loss was lower, if selected as better.
	Hours int
}

// SelectionRule is the rule by which a candidate was selected.
type SelectionRule string

const (
	// SelectedFirst: the first candidate, and no other was better for long enough.
	SelectedFirst SelectionRule = "First"
	// SelectedAsReplacement: the previous candidate is no longer eligible.
	SelectedAsReplacement SelectionRule = "Replacement"
	// SelectedAsBetter: the loss was lower than the previous candidate's for long enough.
	SelectedAsBetter SelectionRule = "Better"
)

// criterion is what candidates are compared by.
type criterion string

const (
	// PinballLoss is the mean pinball loss of the served quantile, as a share of the demand (Koenker & Bassett 1978).
	PinballLoss criterion = "pinball loss"
	// RelativeCost is what simulated autoscalers pay, in replica-hours over those of the demand.
	RelativeCost criterion = "relative cost"
	// PricedCost is the relative cost plus the price of late demand.
	PricedCost criterion = "relative cost including late demand"
)

// Message is the reason in a sentence.
func (c SelectionReason) Message() string {
	switch c.Rule {
	case SelectedAsReplacement:
		missed := "meets the objective"
		if c.Criterion == PinballLoss {
			missed = "is calibrated"
		}
		return fmt.Sprintf("%s is selected (%s %.3g), because %s no longer %s", c.Selected, c.Criterion, c.SelectedLoss,
			c.Previous, missed)
	case SelectedAsBetter:
		text := fmt.Sprintf("%s is selected: it had a lower %s than %s (%.3g instead of %.3g)", c.Selected,
			c.Criterion, c.Previous, c.SelectedLoss, c.PreviousLoss)
		if c.Criterion != PinballLoss {
			text += fmt.Sprintf(" for %d hours in a row", c.Hours)
		}
		return text
	case SelectedFirst:
	}
	if c.Criterion == PinballLoss {
		return fmt.Sprintf("%s is selected: no other candidate has a pinball loss that is at least %.0f%% lower",
			c.Selected, 100*minGain)
	}
	return fmt.Sprintf("%s is selected: another candidate takes over only after its %s has been at least %.0f%% lower "+
		"for %d hours or more", c.Selected, c.Criterion, 100*minGain, promotionHours)
}

const (
	// minGain is how much lower a challenger's loss must be, as a share.
	minGain = 0.03
	// promotionSaving is how much a candidate must save before it is promoted, in hours of the selected candidate's cost. Only hours in
	// a row with a saving of at least minGain count. A candidate that is 10 % cheaper needs a week, which includes all weekdays. On
	// recorded demand, a small gain over a few days was luck more often than not: candidates that were promoted on it cost more
	// afterwards than the candidates that they replaced. A promotion takes at least promotionHours. A pinball loss is an average over
	// many windows and needs no delay.
	promotionSaving = 16.0
	promotionHours  = 72
	// replacementSaving counts for each hour in which the selected candidate was not eligible.
	replacementSaving = 0.1
	// maxReplacementLoss bounds the loss of a replacement, as a multiple of the loss of a candidate that is no longer eligible.
	maxReplacementLoss = 1.5
)

// CandidateSelector selects a candidate: the first one, until another one's loss is lower for long enough. The zero value
// selects the first.
type CandidateSelector struct {
	// Criterion is what Loss is in the scores.
	Criterion criterion

	selected int
	// challenger has been better for so many hours in a row; saved is the sum of what it saved, in hours of the loss.
	challenger, hours int
	saved             float64
	reason            SelectionReason
}

// Selected is the index of the selected candidate.
func (g *CandidateSelector) Selected() int { return g.selected }

// Reason is why the selected candidate is selected.
func (g *CandidateSelector) Reason(all []CandidateScore) SelectionReason {
	if g.reason.Rule == "" {
		return SelectionReason{Rule: SelectedFirst, Criterion: g.Criterion, Selected: all[g.selected].Name}
	}
	return g.reason
}

// Update compares the scores of all candidates, in the same order each time. It is called every hour for costs, every step for
// pinball losses.
func (g *CandidateSelector) Update(all []CandidateScore) {
	now, best := all[g.selected], g.bestChallenger(all)
	switch {
	case best < 0:
		g.hours = 0
	case !now.Eligible && !(all[best].Loss > maxReplacementLoss*now.Loss):
		g.challenge(SelectedAsReplacement, best, replacementSaving, all)
	case g.comparableLoss(all, best) <= g.comparableLoss(all, g.selected):
		g.challenge(SelectedAsBetter, best, 1-all[best].Loss/now.Loss, all)
	default:
		g.hours = 0
	}
}

// challenge counts an hour in which a candidate was better, and selects it after enough of them.
func (g *CandidateSelector) challenge(by SelectionRule, challenger int, saved float64, all []CandidateScore) {
	if g.challenger != challenger || g.hours == 0 {
		g.challenger, g.hours, g.saved = challenger, 0, 0
	}
	g.hours++
	g.saved += saved
	if g.Criterion != PinballLoss && !(g.hours >= promotionHours && g.saved >= promotionSaving) { // NaN is not.
		return
	}
	next, previous := &all[challenger], &all[g.selected]
	g.reason = SelectionReason{
		Rule: by, Criterion: g.Criterion, Hours: g.hours,
		Selected: next.Name, SelectedLoss: next.Loss, Previous: previous.Name, PreviousLoss: previous.Loss,
	}
	g.selected, g.hours = challenger, 0
}

// bestChallenger is the index of the eligible candidate of lowest loss, the first of equals; −1 if there is none.
func (g *CandidateSelector) bestChallenger(all []CandidateScore) int {
	best, least := -1, math.Inf(1)
	for i := range all {
		if loss := g.comparableLoss(all, i); i != g.selected && all[i].Eligible && loss < least {
			best, least = i, loss
		}
	}
	return best
}

// comparableLoss reduces the selected candidate's loss by minGain, so that a challenger must be lower by that much. A baseline
// that challenges a model is reduced, too: it needs no gain, because a model that is no better is not worth its cost.
func (g *CandidateSelector) comparableLoss(all []CandidateScore, i int) float64 {
	if i == g.selected || all[i].Baseline && !all[g.selected].Baseline {
		return (1 - minGain) * all[i].Loss
	}
	return all[i].Loss
}

package objective

import "time"

// Spending is the replica-hours of whole hours, by the simulated autoscalers of the first goal.
type Spending struct {
	// Hours that are added up.
	Hours int
	// Served, Observed, Before and Hindsight are the accounts of a Report: the last one with the target that is the best now.
	Served, Observed, Before, Hindsight float64
}

// HourEnded is when the newest of the hours ended that were played; zero before the first.
func (o *Calibrator) HourEnded() time.Time { return o.hourEnded }

// SpentSince adds up the hours that ended after a time, as far as they are kept.
func (o *Calibrator) SpentSince(at time.Time) Spending {
	a := o.goals[0].accounts
	out := Spending{Hours: min(int(o.hourEnded.Sub(at)/time.Hour), a.hours.Len(), o.rivals.hours.Len())}
	if out.Hours <= 0 {
		return Spending{}
	}
	sum, _ := a.total()
	_, best := o.rivalsBeside(sum.Account)
	for i := range out.Hours {
		paid := &o.rivals.hours.Ref(i).paid
		out.Served += a.hours.Ref(i).Paid
		out.Observed += float64(paid[rivalCount-1])
		out.Before += float64(paid[0])
		out.Hindsight += float64(paid[best])
	}
	return out
}

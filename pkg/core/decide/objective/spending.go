package objective

import "time"

// Spending is the replica-hours of whole hours, by the simulated autoscalers of the first goal.
type Spending struct {
	// Hours that are added up.
	Hours int
	// Served, Observed, Before and Hindsight are the accounts of a Report: the last one with the target that is the best now.
	Served, Observed, Before, Hindsight float64
}

// HourEnded is when the newest of the clock hours ended that were played; zero before the first.
func (o *Calibrator) HourEnded() time.Time { return o.published.hours.end }

// SpentSince adds up the hours that ended after a time, as far as they are kept.
func (o *Calibrator) SpentSince(at time.Time) Spending {
	l := &o.published.hours
	out := Spending{Hours: min(int(l.end.Sub(at)/time.Hour), o.compared())}
	if out.Hours <= 0 {
		return Spending{}
	}
	_, best := o.rivalsBeside(l.sum(o.compared()))
	for i := range out.Hours {
		paid := &o.rivals.hours.Ref(i).paid
		out.Served += l.ring.Ref(i).paid
		out.Observed += float64(paid[rivalCount-1])
		out.Before += float64(paid[0])
		out.Hindsight += float64(paid[best])
	}
	return out
}

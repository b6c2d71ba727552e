package outcome

import (
	"fmt"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Words say in a sentence with its numbers whether the objective is met, and why and by how much where it is not.
func (r *Report) Words() string {
	widest, ok := r.Widest()
	if !ok {
		return r.asked()
	}
	first := &r.Scalings[0]
	expected := humanize.Late(first.Expected)
	switch r.Verdict {
	case Learning:
		from := "that of other workloads"
		if r.Price > 0 {
			from = "a careful one"
		}
		return fmt.Sprintf("%s: %d hours were seen so far; until there are 24, the margin is %s, k = %s",
			r.asked(), r.Hours, from, humanize.Digits(widest.K, 3))
	case Met:
		if r.Price > 0 {
			return fmt.Sprintf(
				"%s: k = %s is the cheapest; with it %s is expected to wait longer",
				r.asked(),
				humanize.Digits(widest.K, 3),
				expected,
			)
		}
		return fmt.Sprintf("%s; %s is expected to, with k = %s", r.asked(), expected, humanize.Digits(widest.K, 3))
	case AtMaxReplicas:
		return fmt.Sprintf(
			"%s, but %s is expected to: the autoscaler stops at %d replicas, and the highest demand of the last %s took %d",
			r.asked(),
			expected,
			first.Max,
			humanize.Period(r.Over),
			r.PeakReplicas,
		)
	case Bounded:
		return fmt.Sprintf("%s, but no more than %.6g is served now: history justifies no more (%s)",
			r.asked(), r.Limit.Forecast, r.Limit)
	case FasterThanLead:
	}
	top := first.Curve.Points[len(first.Curve.Points)-1]
	return fmt.Sprintf(
		"%s, but %s is expected to: bursts come faster than replicas start (%s). k = %s is served; "+
			"k = %s would leave %s late at %s times the replica-hours, and is not worth them",
		r.asked(),
		expected,
		r.Lead,
		humanize.Digits(widest.K, 3),
		humanize.Digits(top.K, 3),
		humanize.Late(top.Late),
		humanize.Digits(top.Cost/first.Curve.At(widest.K).Cost, 3),
	)
}

// asked is the objective, or the price, in words.
func (r *Report) asked() string {
	if r.Price > 0 {
		return fmt.Sprintf(
			"a replica-hour of demand that waits longer than %s costs as much as %.6g idle ones",
			r.Wait,
			r.Price,
		)
	}
	return fmt.Sprintf("at most %s may wait longer than %s", humanize.Late(r.Late), r.Wait)
}

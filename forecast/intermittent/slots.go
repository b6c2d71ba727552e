package intermittent

import "math"

// Slots are the hurdle of a series whose nights have no demand: the probabilities that a slot of the day is 0, each learnt
// from that slot on the days so far (Cragg 1971; of counts, Mullahy 1986).
type Slots struct {
	shares, days []float64
	// all is the share of zeros over all slots, of so many observations.
	all, count float64
	at         int
}

const (
	// rememberedDays is how many days a slot's share is a mean of; then older ones fade.
	rememberedDays = 28
	// priorDays is for how many days of a slot the share of all slots counts.
	priorDays = 0.5
)

// NewSlots are those of a day of so many steps, 1 for all steps alike. Nothing is known yet. The zero Slots have no day:
// nothing is 0.
func NewSlots(period int) Slots {
	return Slots{shares: make([]float64, period), days: make([]float64, period)}
}

// Update takes the observation of the coming slot, NaN where it is missing. What is not above 0 counts as 0.
func (z *Slots) Update(y float64) {
	if len(z.shares) == 0 {
		return
	}
	slot := z.at
	z.at = (z.at + 1) % len(z.shares)
	if math.IsNaN(y) {
		return
	}
	zero := indicator(!(y > 0))
	z.days[slot] = min(z.days[slot]+1, rememberedDays)
	z.shares[slot] += (zero - z.shares[slot]) / z.days[slot]
	z.count = min(z.count+1, rememberedDays*float64(len(z.shares)))
	z.all += (zero - z.all) / z.count
}

// Zero is the probability that the step so many after the coming one is 0.
func (z *Slots) Zero(ahead int) float64 {
	if len(z.shares) == 0 {
		return 0
	}
	slot := (z.at + ahead) % len(z.shares)
	n := z.days[slot]
	return (n*z.shares[slot] + priorDays*z.all) / (n + priorDays)
}

package intermittent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/units"
)

// Slots are the probabilities that a slot of the day is 0, each learnt from that slot on the days so far.
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

// Hurdle is the probability that a slot of the day is 0, times what a model makes of the values above 0: those at 0 are
// gaps to it (Cragg 1971; of counts, Mullahy 1986).
type Hurdle struct {
	// Period is the length of a day in steps, 1 for slots that are all alike.
	Period int
	// Model forecasts what is above 0.
	Model forecast.Model
}

var _ forecast.Model = Hurdle{}

// Name is that of the model, with the day: "Hurdle(m=288, SES)".
func (m Hurdle) Name() string {
	if m.Model == nil {
		return fmt.Sprintf("Hurdle(m=%d)", m.Period)
	}
	return fmt.Sprintf("Hurdle(m=%d, %s)", m.Period, m.Model.Name())
}

// Fit wants what the model wants of observations above 0. Errors: forecast.ErrParameter and the model's.
func (m Hurdle) Fit(s forecast.Series) (forecast.Fitted, error) {
	if m.Period < 1 || m.Model == nil {
		return nil, fmt.Errorf("%s: want a period of 1 or more and a model: %w", m.Name(), forecast.ErrParameter)
	}
	if err := units.Check(s, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f := &hurdle{slots: NewSlots(m.Period)}
	above := s
	above.Values = make([]float64, s.Len())
	for i, y := range s.Values {
		above.Values[i] = aboveZero(y)
		f.slots.Update(y)
	}
	var err error
	if f.above, err = m.Model.Fit(above); err != nil {
		return nil, fmt.Errorf("%s: of the values above 0: %w", m.Name(), err)
	}
	return f, nil
}

// aboveZero is NaN where y is not above 0.
func aboveZero(y float64) float64 {
	if y > 0 {
		return y
	}
	return math.NaN()
}

// hurdle is a Hurdle at its origin.
type hurdle struct {
	slots Slots
	above forecast.Fitted
}

// Update moves the origin one step on. A value that is not finite, or beyond 1e150, counts as missing.
func (f *hurdle) Update(y float64) {
	if !units.Observed(y) {
		y = math.NaN()
	}
	f.slots.Update(y)
	f.above.Update(aboveZero(y))
}

// PointsTo writes the mean of each step: the forecast of what is above 0, times the probability that it is.
func (f *hurdle) PointsTo(dst []float64) {
	f.above.PointsTo(dst)
	for i, point := range dst {
		dst[i] = (1 - f.slots.Zero(i)) * max(point, 0)
	}
}

// Forecast has the mean and the standard deviation of the two parts together, and their quantiles as marginals.
func (f *hurdle) Forecast(h int) forecast.Forecast {
	out := f.above.Forecast(h)
	m := mixture{above: out, zero: make([]float64, len(out.Point))}
	out.Point, out.StdErr = make([]float64, len(m.zero)), make([]float64, len(m.zero))
	for i := range m.zero {
		m.zero[i] = f.slots.Zero(i)
		mean := max(m.above.Point[i], 0)
		out.Point[i] = (1 - m.zero[i]) * mean
		out.StdErr[i] = math.Hypot(
			math.Sqrt(1-m.zero[i])*m.above.StdErr[i], math.Sqrt(m.zero[i]*(1-m.zero[i]))*mean)
	}
	out.Marginals = m
	return out
}

// mixture is 0 with a probability, and otherwise distributed as what is above 0.
type mixture struct {
	above forecast.Forecast
	zero  []float64
}

// Quantile is the p-quantile of step i: exactly 0 up to the probability of 0.
func (m mixture) Quantile(i int, p float64) float64 {
	if p <= m.zero[i] {
		return 0
	}
	within := (p - m.zero[i]) / (1 - m.zero[i])
	if m.above.Marginals != nil {
		return max(m.above.Marginals.Quantile(i, within), 0)
	}
	return max(m.above.Point[i]+m.above.StdErr[i]*distuv.UnitNormal.Quantile(within), 0)
}

package decompose

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/internal/numeric"
)

// week is the class of each of seven days, counted from the first whole day of a history; one day says that all
// are alike.
type week []int

func (w week) class(d int) int { return w[d%len(w)] }

func (w week) classes() int {
	n := 0
	for _, class := range w {
		n = max(n, class+1)
	}
	return n
}

const (
	// fewestDays are needed to learn a profile from one and to prove it on two.
	fewestDays = 3
	// fewestForWeekend and fewestForWeek are the days from which a weekend is looked for, and from which every day of
	// the week may be of its own class.
	fewestForWeekend = 14
	fewestForWeek    = 28
)

// weeks are the classes that a number of days lets try: all alike, two days in a row apart from the other five, all
// apart. Where the weekend lies is found out: neither the calendar of a series' users nor always its clock is known.
func weeks(days int) []week {
	out := []week{{0}}
	if days >= fewestForWeekend {
		for first := range 7 {
			w := make(week, 7)
			w[first], w[(first+1)%7] = 1, 1
			out = append(out, w)
		}
	}
	if days >= fewestForWeek {
		out = append(out, week{0, 1, 2, 3, 4, 5, 6})
	}
	return out
}

// weigh is how far the proofs let a profile be believed: least squares' weight, shrunk by its standard error over the
// days (James & Stein 1961, positive part), from 0 to 1. A weight that lies within one standard error of 0 is 0.
func weigh(proofs []proof) float64 {
	var sum proof
	days := 0.0
	for _, p := range proofs {
		sum.product += p.product
		sum.square += p.square
		if p.square > 0 {
			days++
		}
	}
	if days < fewestDays-1 || sum.product <= 0 {
		return 0
	}
	weight := sum.product / sum.square
	squares := 0.0
	for _, p := range proofs {
		rest := p.product - weight*p.square
		squares += rest * rest
	}
	variance := squares * days / (days - 1) / (sum.square * sum.square)
	return min(max(weight-variance/weight, 0), 1)
}

// gain is by how much a profile of a weight lowers the squared errors on the day.
func (p proof) gain(weight float64) float64 { return weight * (2*p.product - weight*p.square) }

// chooseWeek proves all weeks and takes the one that gains most, with its weight. One of several classes must beat the
// one by more than a standard error of the difference over the days that both could forecast (Breiman, Friedman, Olshen
// & Stone 1984, section 3.4.3).
func (h history) chooseWeek() (week, float64) {
	candidates := weeks(h.days())
	simple := h.prove(candidates[0])
	simpleWeight := weigh(simple)
	best, bestWeight, bestGain := candidates[0], simpleWeight, 0.0
	for _, w := range candidates[1:] {
		proofs := h.prove(w)
		weight := weigh(proofs)
		if gain, certain := compare(proofs, weight, simple, simpleWeight); certain && gain > bestGain {
			best, bestWeight, bestGain = w, weight, gain
		}
	}
	return best, bestWeight
}

// compare is the mean gain per day of one profile over another, and whether it exceeds its standard error.
func compare(one []proof, oneWeight float64, other []proof, otherWeight float64) (gain float64, certain bool) {
	n, mean, squares := 0.0, 0.0, 0.0
	for d, p := range one {
		if p.square == 0 {
			continue
		}
		n++
		difference := p.gain(oneWeight) - other[d].gain(otherWeight)
		step := difference - mean
		mean += step / n
		squares += step * (difference - mean)
	}
	if n < 2 {
		return 0, false
	}
	return mean, mean > math.Sqrt(squares/(n-1)/n)
}

// Profile gives the shape of a day to a model that knows none, where a day has hundreds of noisy steps: too many for a
// seasonal model of that period. The profile is the median over the days, slot by slot, smoothed over half an hour.
// From two weeks on the days of a weekend, wherever in the week they lie, may have a profile of their own; from four
// weeks on every day of the week.
//
// Yesterday is a poor guide to load that wanders by itself, so a profile has to prove itself: each day's changes over
// the horizon are forecast by the profile of the days before it, and its weight is what least squares give it there,
// shrunk by the standard error of that. It comes out 0 where the day's shape does not repeat; then the model is alone.
//
// It adds to the series. For demand, which a busy hour multiplies, put it on logarithms:
//
//	transform.Log{Model: decompose.Profile{Model: arima.Auto{}}}
type Profile struct {
	// Day is the number of steps in a day, 2 or more; 0 takes it from the series' step.
	Day int
	// Horizon is how many steps ahead the profile has to prove itself, less than a day; 0 takes a quarter of an hour.
	Horizon int
	// Model forecasts what is left of the series without the profile.
	Model forecast.Model
}

// mostDays is how far back a profile looks: five weeks.
const mostDays = 35

// Name is the profile, and the model.
func (m Profile) Name() string {
	if m.Model == nil {
		return "Profile without a model"
	}
	return "Profile + " + m.Model.Name()
}

// Fit learns from the last 35 whole days by the series' clock, wants three, and what the model wants.
func (m Profile) Fit(s forecast.Series) (forecast.Fitted, error) {
	fitted, err := m.Estimate(s)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

// Estimate is Fit with the concrete type, which shows how far the profile is believed.
func (m Profile) Estimate(s forecast.Series) (*FittedProfile, error) {
	if err := numeric.Check(s, 2); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	day := m.Day
	if day == 0 && 24*time.Hour%s.Step == 0 {
		day = int(24 * time.Hour / s.Step)
	}
	horizon := cmp.Or(m.Horizon, max(day/96, 1))
	if m.Model == nil || day < 2 || horizon < 1 || horizon >= day {
		return nil, fmt.Errorf("%s: %d steps of %v a day, horizon %d; want 2 or more, and a horizon within it: %w",
			m.Name(), day, s.Step, horizon, forecast.ErrParameter)
	}
	first := midnight(s, day)
	days := (s.Len() - first) / day
	if days < fewestDays {
		return nil, fmt.Errorf("%s: %d whole days, want %d: %w", m.Name(), max(days, 0), fewestDays,
			forecast.ErrTooShort)
	}
	f := learn(s.Values[first:], day, horizon)
	rest := s
	rest.Values = f.without(s.Values)
	inner, err := m.Model.Fit(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	f.inner = inner
	return f, nil
}

// midnight is the first step of a day by the series' clock; step 0 where a day is not 24 hours.
func midnight(s forecast.Series, day int) int {
	if time.Duration(day)*s.Step != 24*time.Hour {
		return 0
	}
	year, month, date := s.Start.Date()
	since := s.Start.Sub(time.Date(year, month, date, 0, 0, 0, 0, s.Start.Location()))
	until := (24*time.Hour - since%(24*time.Hour)) // a day may have 25 hours
	return int((until+s.Step-1)/s.Step) % day
}

// learn proves profiles on the last whole days of values that begin with one, and keeps the one chosen, weighted.
func learn(values []float64, day, horizon int) *FittedProfile {
	scale := numeric.Scale(values)
	end := len(values) / day * day
	days := min(end/day, mostDays)
	scaled := make([]float64, days*day)
	for i, v := range values[end-days*day : end] {
		scaled[i] = v / scale
	}
	h := newHistory(scaled, day, horizon)
	w, weight := h.chooseWeek()
	f := &FittedProfile{weight: weight, week: []int{0}}
	if weight == 0 {
		return f
	}
	l := newLearner(day, w.classes(), days)
	h.teach(l, w, 0, days-1)
	for _, profile := range l.profiles {
		for i := range profile {
			profile[i] *= weight * scale
		}
	}
	c := cycle{at: len(values) - end}
	f.week = f.week[:0]
	for d := range w {
		class := w.class(days + d)
		if l.profiles[class] == nil {
			l.profiles[class] = make([]float64, day) // all its days were gaps
		}
		f.week = append(f.week, class)
		c.parts = append(c.parts, l.profiles[class])
	}
	f.cycles = []cycle{c}
	return f
}

// FittedProfile is a model of what is left without the profile at its origin, and the profile as it goes on.
type FittedProfile struct {
	seasonal
	weight float64
	week   []int
}

// without are the values of a series that ends at the origin, without the profile.
func (f *FittedProfile) without(values []float64) []float64 {
	out := append([]float64(nil), values...)
	for _, c := range f.cycles {
		period := 0
		for _, part := range c.parts {
			period += len(part)
		}
		effects := make([]float64, period)
		c.addTo(effects)
		for i := range out {
			// The effects start at the origin: step i lies len(values)−i before it.
			out[i] -= effects[period-1-(len(values)-1-i)%period]
		}
	}
	return out
}

// Weight is how far the profile is believed, from 0 to 1.
func (f *FittedProfile) Weight() float64 { return f.weight }

// Week is the class of each of the seven days from that of the origin's next step on; a single 0 means that all days
// are alike. The slice is the caller's.
func (f *FittedProfile) Week() []int { return append([]int(nil), f.week...) }

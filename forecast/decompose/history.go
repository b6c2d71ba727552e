package decompose

import (
	"math"
	"slices"
)

// history is whole days of a series.
type history struct {
	values []float64
	day    int
	// medians are of the days, NaN where one is all gaps.
	medians []float64
	// limit is by how much a change over the horizon may exceed what a profile said of it and count in full.
	limit   float64
	horizon int
}

// robustDeviations is the limit of a change in robust deviations, 1.4826 medians of the sizes.
const robustDeviations = 5

func newHistory(values []float64, day, horizon int) history {
	h := history{values: values, day: day, horizon: horizon}
	sorted := make([]float64, 0, max(day, len(values)))
	for d := range h.days() {
		sorted = sorted[:0]
		for _, v := range h.on(d) {
			if !math.IsNaN(v) {
				sorted = append(sorted, v)
			}
		}
		slices.Sort(sorted)
		h.medians = append(h.medians, middle(sorted))
	}
	sorted = sorted[:0]
	for t := horizon; t < len(values); t++ {
		if change := math.Abs(values[t] - values[t-horizon]); !math.IsNaN(change) {
			sorted = append(sorted, change)
		}
	}
	slices.Sort(sorted)
	h.limit = robustDeviations * 1.4826 * middle(sorted)
	if !(h.limit > 0) {
		h.limit = math.Inf(1)
	}
	return h
}

func (h history) days() int { return len(h.values) / h.day }

// on are the values of day d.
func (h history) on(d int) []float64 { return h.values[d*h.day : (d+1)*h.day] }

// level is what day d is measured from: its own median where all days are of one class, else the mean of the medians of
// the seven days up to it (of the first seven), which hold every day of the week once. So a level that the days of a
// class have in common is part of their profile.
func (h history) level(d, classes int) float64 {
	if classes == 1 {
		return h.medians[d]
	}
	last := max(d, 6)
	sum, count := 0.0, 0.0
	for _, m := range h.medians[last-6 : last+1] {
		if !math.IsNaN(m) {
			sum += m
			count++
		}
	}
	return sum / count
}

// proof is what a profile said about one day that it had not seen: the sums of the changes over the horizon times what
// it said, and of what it said squared. Least squares would weigh it with their ratio.
type proof struct{ product, square float64 }

// prove lets profiles forecast each day's changes from the days before it. Day d's proof is at d; days that could not
// be forecast have none.
func (h history) prove(w week) []proof {
	out := make([]proof, h.days())
	l := newLearner(h.day, w.classes(), h.days())
	for d := range out {
		if d > 0 {
			out[d] = h.proveDay(d, l.profiles[w.class(d-1)], l.profiles[w.class(d)])
		}
		switch first := len(w) - 1; {
		case d == first: // from here on the levels are known
			h.teach(l, w, 0, d)
		case d > first:
			h.teach(l, w, d, d)
		}
	}
	return out
}

// teach shows a learner the days from one to the other, but for those that are all gaps.
func (h history) teach(l *learner, w week, from, to int) {
	for d := from; d <= to; d++ {
		if !math.IsNaN(h.medians[d]) {
			l.add(h.on(d), h.level(d, w.classes()), w.class(d))
		}
	}
}

// proveDay is the proof of a day from the profiles of its class and of the day before's.
func (h history) proveDay(d int, before, today []float64) proof {
	var p proof
	if before == nil || today == nil {
		return p
	}
	for slot := range h.day {
		t := d*h.day + slot
		change := h.values[t] - h.values[t-h.horizon]
		if math.IsNaN(change) {
			continue
		}
		said := today[slot]
		if slot >= h.horizon {
			said -= today[slot-h.horizon]
		} else {
			said -= before[slot-h.horizon+h.day]
		}
		limit := h.limit + math.Abs(said) // A predicted jump is no outlier.
		p.product += min(max(change, -limit), limit) * said
		p.square += said * said
	}
	return p
}

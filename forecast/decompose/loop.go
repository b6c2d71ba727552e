package decompose

import (
	"math"
	"slices"
)

// loop is an STL at work on one series: the parts as they stand and the room in which they are improved. Its methods
// follow the six steps of the inner loop (Cleveland et al. 1990, section 2.2).
type loop struct {
	y              []float64
	period         int
	trend, season  []float64
	weights        []float64 // robustness weights; nil before the first outer iteration
	byCycle        *loess
	byTrend, byLow *loess
	cycles         []float64 // the smoothed cycle-subseries, one season longer at either end
	low, spare     []float64
	part, partOut  []float64 // one cycle-subseries and its smooth
	partWeights    []float64
	sorted         []float64 // for medians
}

func newLoop(y []float64, d stl) *loop {
	n, period := len(y), d.period
	long, part := n+2*period, (n-1)/period+1
	room := make([]float64, 2*n+3*long+3*part+2)
	take := func(k int) []float64 {
		out := room[:k:k]
		room = room[k:]
		return out
	}
	return &loop{
		y: y, period: period,
		trend: take(n), season: take(n),
		cycles: take(long), low: take(long), spare: take(long),
		part: take(part), partOut: take(part + 2), partWeights: take(part),
		byCycle: newLoess(d.window, false), byTrend: newLoess(d.trendWindow(), true),
		byLow: newLoess(odd(float64(period)), true),
	}
}

// run makes the given number of inner iterations, and again after each of the outer iterations' new weights.
func (l *loop) run(inner, outer int) {
	if outer > 0 {
		l.mistrust()
	}
	for k := 0; ; k++ {
		for range inner {
			l.improve()
		}
		if k == outer {
			return
		}
		l.weigh()
	}
}

// improve is one inner iteration: new seasons from the series without the trend, a new trend from the series without
// the season.
func (l *loop) improve() {
	n, m := len(l.y), l.period
	detrended := l.spare[:n]
	for i, y := range l.y {
		detrended[i] = y - l.trend[i]
	}
	l.smoothCycles(detrended)
	l.lowPass()
	for i := range l.season {
		l.season[i] = l.cycles[m+i] - l.low[i]
	}
	adjusted := l.spare[:n]
	for i, y := range l.y {
		adjusted[i] = y - l.season[i]
	}
	l.byTrend.smooth(l.trend, adjusted, l.weights)
}

// smoothCycles smooths each cycle-subseries (all values of one slot of the season) and extends it by one season at
// either end.
func (l *loop) smoothCycles(detrended []float64) {
	n, m := len(l.y), l.period
	for slot := range m {
		k := (n-1-slot)/m + 1
		part, out := l.part[:k], l.partOut[:k+2]
		for i := range part {
			part[i] = detrended[slot+i*m]
		}
		var weights []float64
		if l.weights != nil {
			weights = l.partWeights[:k]
			for i := range weights {
				weights[i] = l.weights[slot+i*m]
			}
		}
		l.byCycle.smooth(out[1:k+1], part, weights)
		out[0] = l.byCycle.estimate(part, weights, -1, out[1])
		out[k+1] = l.byCycle.estimate(part, weights, k, out[k])
		for i, v := range out {
			l.cycles[slot+i*m] = v
		}
	}
}

// lowPass is what of the smoothed cycles is trend rather than season: moving averages of a season, a season and three
// steps, then loess.
func (l *loop) lowPass() {
	n, m := len(l.y), l.period
	movingAverage(l.low[:n+m+1], l.cycles, m)
	movingAverage(l.spare[:n+2], l.low[:n+m+1], m)
	movingAverage(l.low[:n], l.spare[:n+2], 3)
	copy(l.spare, l.low[:n])
	l.byLow.smooth(l.low[:n], l.spare[:n], nil)
}

// movingAverage writes the len(y)−k+1 averages of k neighbours to dst.
func movingAverage(dst, y []float64, k int) {
	sum := 0.0
	for _, v := range y[:k] {
		sum += v
	}
	scale := 1 / float64(k)
	dst[0] = sum * scale
	for i := 1; i < len(dst); i++ {
		sum += y[i+k-1] - y[i-1]
		dst[i] = sum * scale
	}
}

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

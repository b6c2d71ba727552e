package capacity

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
)

// The scale of loads is logarithmic, so that the relative precision of a capacity is the same at 0.8 and at 4000.
const (
	// binWidth is the resolution of an estimate: 2 %.
	binWidth = 0.02
	// scaleAbove and scaleBelow limit the scale relative to the highest load that was carried calmly. A load outside the scale counts as if it
	// were at the end of the scale, which does not change what it shows.
	scaleAbove, scaleBelow = 4, 25
)

// How far a log-likelihood may be below the highest one: for a threshold that no history can distinguish from the most likely one, and for
// a threshold in the 90 % interval (Wilks 1938).
const (
	equalDrop    = 0.1
	intervalDrop = 2.706 / 2
)

// spreads, guesses and lapses return the parameters that are tried, see curve.
func spreads() []float64 { return []float64{0.01, 0.02, 0.04, 0.08, 0.15, 0.3} }
func guesses() []float64 { return []float64{0.002, 0.01, 0.05, 0.15} }
func lapses() []float64  { return []float64{0.01, 0.1, 0.3} }

// curve is the probability that the queue grows at a load u (a logarithm):
//
//	p(u) = guess + (1 − guess − lapse) / (1 + exp(−(u − threshold)/spread))
//
// This is the psychometric function. The threshold is found in the same way as the brightness that a light needs to be seen is found from
// answers "seen" or "not seen" (Wichmann and Hill 2001). guess is the probability that the queue grows for other reasons, at any load (for
// example because a replica hangs). lapse is the probability that it does not grow although it should. Without these two parameters, a
// handful of such moments would flatten the curve and move the threshold, as in a logistic regression. The threshold does not depend on how
// often each load occurred.
type curve struct {
	threshold, spread, guess, lapse float64
	// low and high limit the thresholds that are almost equally likely. There may be several if no load was seen between calm and growing
	// moments.
	low, high float64
}

// scale assigns loads to bins.
type scale struct {
	// base is the logarithm of the load at which the first bin begins.
	base float64
	bins int
}

// scaleFor returns the scale for calm loads. They are in ascending order, and at least one is above 0.
func scaleFor(calm []float64) scale {
	const most = 0.995 // A single extreme load does not determine the scale.
	top := quantile(calm, most)
	if top == 0 {
		top = calm[len(calm)-1]
	}
	return scale{base: math.Log(top / scaleBelow), bins: int(math.Ceil(math.Log(scaleAbove*scaleBelow) / binWidth))}
}

func (s scale) bin(load float64) int {
	if load <= 0 {
		return 0
	}
	// The limits are applied to the float, because the load may be too large for an int.
	return int(min(max((math.Log(load)-s.base)/binWidth, 0), float64(s.bins-1)))
}

// at returns the logarithm of the load in the middle of a bin.
func (s scale) at(bin float64) float64 { return s.base + (bin+0.5)*binWidth }

// counts has the number of moments in each bin: moments in which the queue grew, and calm moments.
type counts struct{ grew, calm []float64 }

func newCounts(bins int) counts { return counts{make([]float64, bins), make([]float64, bins)} }

func (c counts) add(other counts) {
	for i := range c.grew {
		c.grew[i] += other.grew[i]
		c.calm[i] += other.calm[i]
	}
}

// share returns the share of the moments above and below a threshold in which the queue grew; NaN if there are none.
func (c counts) share(s scale, threshold float64) (high, low float64) {
	var grew, all [2]float64
	for bin := range c.grew {
		side := 0
		if s.at(float64(bin)) >= threshold {
			side = 1
		}
		grew[side] += c.grew[bin]
		all[side] += c.grew[bin] + c.calm[bin]
	}
	return grew[1] / all[1], grew[0] / all[0]
}

// fit returns the most likely curve. It tries every threshold on the grid with all combinations of the other parameters. That takes a few
// million additions, and finds the highest peak, while hill climbing could stop at a lower one.
func fit(s scale, c counts) curve {
	best, height := curve{}, math.Inf(-1)
	for _, guess := range guesses() {
		for _, lapse := range lapses() {
			tried := trials(s.bins, curve{guess: guess, lapse: lapse}, spreads())
			if got, h := fitThreshold(s, c, tried); h > height {
				best, height = got, h
			}
		}
	}
	return best
}

// trial is a curve whose threshold is not known yet. It has what a moment adds to the log-likelihood, by the number of bins from the moment
// up to the threshold. The list begins with the largest negative number of bins.
type trial struct {
	curve

	grew, calm []float64
}

// trials returns a trial of a curve with each spread.
func trials(bins int, with curve, spreads []float64) []trial {
	out := make([]trial, len(spreads))
	for k, spread := range spreads {
		with.spread = spread
		out[k] = trial{curve: with, grew: make([]float64, 2*bins), calm: make([]float64, 2*bins)}
		for i := range out[k].grew {
			p := with.guess + (1-with.guess-with.lapse)/(1+math.Exp(float64(i-bins)*binWidth/spread))
			out[k].grew[i], out[k].calm[i] = math.Log(p), math.Log1p(-p)
		}
	}
	return out
}

// fitThreshold finds the most likely trial with its threshold, and returns its log-likelihood.
func fitThreshold(s scale, c counts, tried []trial) (curve, float64) {
	best, height := tried[0].curve, math.Inf(-1)
	heights := make([]float64, s.bins)
	for i := range tried {
		tried[i].logLikelihoods(c, heights)
		highest := slices.Max(heights)
		if !(highest > height) {
			continue
		}
		best, height = tried[i].curve, highest
		first, last := plausibleRange(heights, highest-equalDrop)
		best.threshold = s.at(float64(first+last) / 2)
		first, last = plausibleRange(heights, highest-intervalDrop)
		best.low, best.high = s.at(float64(first)), s.at(float64(last))
	}
	return best, height
}

// plausibleRange returns the first and the last threshold whose log-likelihood is at least the given one.
func plausibleRange(heights []float64, least float64) (first, last int) {
	first = slices.IndexFunc(heights, func(h float64) bool { return h >= least })
	for last = len(heights) - 1; !(heights[last] >= least); last-- {
		continue
	}
	return first, last
}

// logLikelihoods writes the log-likelihood of each threshold.
func (t *trial) logLikelihoods(seen counts, heights []float64) {
	bins := len(heights)
	clear(heights)
	for bin := range bins {
		accumulate(heights, seen.grew[bin], t.grew[bins-bin:])
		accumulate(heights, seen.calm[bin], t.calm[bins-bin:])
	}
}

// accumulate adds the given multiple of the values to the sums.
func accumulate(sums []float64, times float64, of []float64) {
	if times == 0 {
		return
	}
	of = of[:len(sums)]
	for i, v := range of {
		sums[i] += times * v
	}
}

// quantile returns the quantile of values by the nearest rank. The values are in ascending order, and there is at least one.
func quantile(sorted []float64, level float64) float64 {
	return sorted[int(math.Round(level*float64(len(sorted)-1)))]
}

// Band is the moments whose load was in a range.
type Band struct {
	// From and To bound the load: From ≤ load < To. To of the last band is +Inf where there are higher loads.
	From, To float64
	// Calm is how long nothing waited, Growing how long the queue grew.
	Calm, Growing time.Duration
}

// Share is how much of the time the queue grew, NaN where the load never was there.
func (b *Band) Share() float64 { return float64(b.Growing) / float64(b.Growing+b.Calm) }

// bands groups the calm and the growing moments into about eight bands around a load. If the load is NaN, the highest load is used.
func bands(moments []moment, step time.Duration, middle float64) []Band {
	all := loads(moments, func(m moment) bool { return m.state != waiting })
	if len(all) == 0 {
		return nil
	}
	highest := slices.Max(all)
	if math.IsNaN(middle) || middle <= 0 {
		middle = highest
	}
	const toMiddle, most = 5, 9 // Bands up to the middle, and all bands.
	width := roundWidth(middle / toMiddle)
	if !(width > 0) {
		return []Band{singleBand(moments, step)}
	}
	out := make([]Band, min(int(min(highest/width, most))+1, most))
	for i := range out {
		out[i].From, out[i].To = float64(i)*width, float64(i+1)*width
	}
	if last := &out[len(out)-1]; highest >= last.To {
		last.To = math.Inf(1)
	}
	for _, m := range moments {
		out[int(min(m.load/width, float64(len(out)-1)))].add(m, step)
	}
	return out
}

// singleBand returns one band with all loads.
func singleBand(moments []moment, step time.Duration) Band {
	b := Band{To: math.Inf(1)}
	for _, m := range moments {
		b.add(m, step)
	}
	return b
}

func (b *Band) add(m moment, step time.Duration) {
	switch m.state {
	case calm:
		b.Calm += step
	case growing:
		b.Growing += step
	case waiting:
	}
}

// roundWidth rounds a width to the nearest 1, 2, 2.5 or 5 times a power of ten.
func roundWidth(width float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(width)))
	best := power
	for _, times := range []float64{2, 2.5, 5, 10} {
		if math.Abs(times*power-width) < math.Abs(best-width) {
			best = times * power
		}
	}
	return best
}

// plateaus reports whether a signal stops rising at the capacity. A count of what is served does so (tokens per second, busy GPUs), but not
// the number of requests that arrive or are in flight. In that case, all loads at the limit are about the same, and do not depend on the
// queue or its growth.
func plateaus(moments []moment) bool {
	const (
		least  = 30  // Moments at the limit that are needed for a meaningful spread and order.
		narrow = 0.2 // The standard deviation of a load at the limit, as a share of the load.
		follow = 0.4 // The rank correlation above which a load depends on the queue.
	)
	var limit []moment
	for _, m := range moments {
		if atLimit(m) {
			limit = append(limit, m)
		}
	}
	if len(limit) < least {
		return false
	}
	load := column(limit, func(m moment) float64 { return m.load })
	sorted := slices.Sorted(slices.Values(load))
	median := quantile(sorted, 0.5)
	calmAbove := loads(moments, func(m moment) bool { return m.state == calm && m.load > median })
	const deviations = 2.563 // From the 0.1 to the 0.9 quantile of a Gaussian.
	spread := (quantile(sorted, 0.9) - quantile(sorted, 0.1)) / deviations
	return spread < narrow*median && len(calmAbove) < len(limit)/2 &&
		correlation(load, column(limit, func(m moment) float64 { return m.queue })) < follow &&
		correlation(load, column(limit, func(m moment) float64 { return m.grown })) < follow
}

func column(moments []moment, of func(moment) float64) []float64 {
	out := make([]float64, len(moments))
	for i, m := range moments {
		out[i] = of(m)
	}
	return out
}

// correlation returns the rank correlation (Spearman 1904); 0 if one of the lists does not vary.
func correlation(a, b []float64) float64 {
	r := stat.Correlation(ranks(a), ranks(b), nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

// ranks returns the ranks from 1 on. Equal values share their rank.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return out
}

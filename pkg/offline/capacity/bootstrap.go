package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// resamples is the number of resamples of a bootstrap, and level is the share of them that an interval contains.
	resamples = 200
	level     = 0.9
	// A block is long enough to contain a whole overload, and there are enough blocks.
	longestBlock, shortestBlock, fewestBlocks = 6 * time.Hour, time.Hour, 40
)

// blocks splits the moments into pieces of the history. Moments within one overload repeat the same information, so only whole blocks may
// be treated as independent (Carlstein 1986).
func (h History) blocks(moments []moment) [][]moment {
	span := h.Step * time.Duration(len(h.Demand))
	length := max(int(min(longestBlock, max(shortestBlock, span/fewestBlocks))/h.Step), 1)
	var out [][]moment
	for from := 0; from < len(moments); {
		block, to := moments[from].step/length, from+1
		for to < len(moments) && moments[to].step/length == block {
			to++
		}
		out = append(out, moments[from:to])
		from = to
	}
	return out
}

// bootstrap calls use with the blocks of each resample. A resample has as many blocks as there are, drawn with replacement. The seed is
// fixed, so the same history always gets the same interval.
func bootstrap(blocks int, use func(chosen []int)) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // An estimate must repeat itself.
	chosen := make([]int, blocks)
	for range resamples {
		for i := range chosen {
			chosen[i] = random.IntN(blocks)
		}
		use(chosen)
	}
}

// thresholdInterval returns the interval of a curve's threshold, as logarithms. If no load was seen between calm and growing moments, the
// interval contains the whole gap. It is always at least two bins wide, because a queue that grows within a step, or a rate that lags
// behind, can move a threshold by that much. Only the threshold and the spread of the curve vary; the other parameters are fixed.
func thresholdInterval(s scale, blocks [][]moment, fitted curve) (low, high float64) {
	counted := make([]counts, len(blocks))
	for i, block := range blocks {
		counted[i] = count(s, block)
	}
	var lows, highs []float64
	drawn := newCounts(s.bins)
	near := trials(s.bins, curve{guess: fitted.guess, lapse: fitted.lapse}, neighbours(spreads(), fitted.spread))
	bootstrap(len(blocks), func(chosen []int) {
		clear(drawn.grew)
		clear(drawn.calm)
		for _, i := range chosen {
			drawn.add(counted[i])
		}
		if slices.Max(drawn.grew) == 0 || slices.Max(drawn.calm) == 0 {
			return // A resample without calm or without growing moments has no threshold.
		}
		c, _ := fitThreshold(s, drawn, near)
		lows, highs = append(lows, c.low), append(highs, c.high)
	})
	low, _ = interval(lows)
	_, high = interval(highs)
	return min(low, fitted.low) - 2*binWidth, max(high, fitted.high) + 2*binWidth
}

func count(s scale, moments []moment) counts {
	out := newCounts(s.bins)
	for _, m := range moments {
		switch m.state {
		case growing:
			out.grew[s.bin(m.load)]++
		case calm:
			out.calm[s.bin(m.load)]++
		case waiting:
		}
	}
	return out
}

// neighbours returns a value of a list and the values next to it.
func neighbours(list []float64, value float64) []float64 {
	i := slices.Index(list, value)
	return list[max(i-1, 0):min(i+2, len(list))]
}

// medianInterval returns the interval of the median load at the limit.
func medianInterval(blocks [][]moment) (low, high float64) {
	limit := make([][]float64, len(blocks))
	for i, block := range blocks {
		limit[i] = loads(block, atLimit)
	}
	var medians, drawn []float64
	bootstrap(len(blocks), func(chosen []int) {
		drawn = drawn[:0]
		for _, i := range chosen {
			drawn = append(drawn, limit[i]...)
		}
		if len(drawn) > 0 {
			slices.Sort(drawn)
			medians = append(medians, quantile(drawn, 0.5))
		}
	})
	return interval(medians)
}

// interval returns the interval of resampled estimates from their quantiles (Efron 1979); NaN if there are none.
func interval(estimates []float64) (low, high float64) {
	if len(estimates) == 0 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(estimates)
	return quantile(estimates, (1-level)/2), quantile(estimates, (1+level)/2)
}

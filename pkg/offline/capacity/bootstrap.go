package capacity

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// resamples of a bootstrap, and how much of them an interval holds.
	resamples = 200
	level     = 0.9
	// A block is long enough to hold an overload whole, and there are enough of them.
	longestBlock, shortestBlock, fewestBlocks = 6 * time.Hour, time.Hour, 40
)

// blocks are the moments by pieces of the history. Moments within an overload say the same thing many times: only whole
// blocks may be taken for independent (Carlstein 1986).
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

// bootstrap gives each resample's blocks: as many as there are, drawn with replacement. The seed is fixed: the same history has
// the same interval.
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

// thresholdInterval is the interval of a curve's threshold, as logarithms. Where no load was seen between calm and growing
// ones all of what lies between is in it, and nothing is known to less than two bins: a queue that grows within a step, and a
// rate that lags behind, move a threshold by as much. What the curve has besides threshold and
// spread is held.
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
			return // A resample without one of them knows no threshold.
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

// neighbours are a value of a list and the values next to it.
func neighbours(list []float64, value float64) []float64 {
	i := slices.Index(list, value)
	return list[max(i-1, 0):min(i+2, len(list))]
}

// medianInterval is the interval of the median load at the limit.
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

// interval of resampled estimates, by their quantiles (Efron 1979); NaN of none.
func interval(estimates []float64) (low, high float64) {
	if len(estimates) == 0 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(estimates)
	return quantile(estimates, (1-level)/2), quantile(estimates, (1+level)/2)
}

package decompose

// loop is a running STL of one series: the present parts, and scratch memory. Its methods follow the six steps of the inner loop (Cleveland
// et al. 1990, section 2.2).
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

// run makes the given number of inner iterations. After each outer iteration, which computes new weights, it makes them again.
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

// improve makes one inner iteration. It computes a new season from the series without the trend, and a new trend from the series without
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

// lowPass computes the part of the smoothed cycles that is trend and not season: moving averages over a season, a season and three steps,
// and then loess.
func (l *loop) lowPass() {
	n, m := len(l.y), l.period
	movingAverage(l.low[:n+m+1], l.cycles, m)
	movingAverage(l.spare[:n+2], l.low[:n+m+1], m)
	movingAverage(l.low[:n], l.spare[:n+2], 3)
	copy(l.spare, l.low[:n])
	l.byLow.smooth(l.low[:n], l.spare[:n], nil)
}

// movingAverage writes the len(y)−k+1 averages of k neighboring values to dst.
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

package decompose

import "math"

// stl splits a series into a trend, one season and a remainder by loess (R. B. Cleveland, W. S. Cleveland, McRae &
// Terpenning 1990).
type stl struct {
	// period is the length of the season in steps, 2 or more.
	period int
	// window is over how many seasons each slot of the season is smoothed, odd and 3 or more: the wider, the more slowly
	// the season changes.
	window int
	// robust keeps outliers out of trend and season. It takes some 20 times as long. (R's stl, whose partial sort now and
	// then takes another order statistic for the median of the remainders, comes out a little different then.)
	robust bool
}

// The numbers of iterations that Cleveland et al. (1990) advise.
const (
	innerPlain  = 2
	innerRobust = 1
	outerRobust = 15
)

// run is the decomposition of a series without gaps.
func (d stl) run(y []float64) *loop {
	l := newLoop(y, d)
	if d.robust {
		l.run(innerRobust, outerRobust)
	} else {
		l.run(innerPlain, 0)
	}
	return l
}

// trendWindow is over how many steps the trend is smoothed: the least that leaves the season to the season (Cleveland et
// al. 1990, section 3.6), about one and a half seasons.
func (d stl) trendWindow() int { return odd(1.5 * float64(d.period) / (1 - 1.5/float64(d.window))) }

// odd is the least odd number from x on.
func odd(x float64) int {
	n := int(math.Ceil(x))
	return n + 1 - n%2
}

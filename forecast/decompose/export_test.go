package decompose

// Robust is a robust STL.
func Robust(y []float64, period, window int) (trend, season []float64) {
	l := stl{period: period, window: window, robust: true}.run(y)
	return l.trend, l.season
}

// RobustWithRank is a robust STL in one of whose outer iterations, counted from 1, the lower of the two middle
// remainders of an even number is taken to be the one of the rank, counted from 1.
func RobustWithRank(y []float64, period, window, iteration, rank int) (trend, season []float64) {
	l := newLoop(y, stl{period: period, window: window})
	l.run(innerRobust, 0)
	for k := 1; k <= outerRobust; k++ {
		l.sortRemainders()
		lower := len(y) / 2
		if k == iteration {
			lower = rank
		}
		l.weighWithin(3 * (l.sorted[lower-1] + l.sorted[len(y)/2]))
		l.run(innerRobust, 0)
	}
	return l.trend, l.season
}

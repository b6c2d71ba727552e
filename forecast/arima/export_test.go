package arima

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/forewarm/forewarm/forecast"
)

// The tests by which Auto chooses differences.
var (
	KPSS                  = kpss
	DifferencesOf         = differencesOf
	SeasonalDifferencesOf = seasonalDifferencesOf
)

// Partials and their inverse for the tests.
func FromPartial(partial []float64) []float64 {
	out := make([]float64, len(partial))
	fromPartial(partial, out, make([]float64, len(partial)))
	return out
}

// ToPartial is toPartial for the tests.
func ToPartial(coefficients []float64) ([]float64, bool) {
	out := make([]float64, len(coefficients))
	ok := toPartial(coefficients, out, make([]float64, 2*len(out)))
	return out, ok
}

// DiffuseLogLikelihood is the log-likelihood of a series at the coefficients of a fit as R's arima defines it (Gardner,
// Harvey & Phillips 1980): the values with which the differences start are independent around 0 with kappa times the
// innovations' variance, and an observation of more than 10⁴ times that is left out. With kappa to infinity it is
// LogLikelihood; at R's 10⁶ the two differ by as much as 4e-3, and by the units and the level of the series.
func (f *Fitted) DiffuseLogLikelihood(s forecast.Series, kappa float64) (logLikelihood, sigma2 float64) {
	p := f.filter.process
	filter := newFilter(p, 1, p.size)
	filter.start([][]float64{make([]float64, p.delta.degree())}, func(int) bool { return true })
	for _, column := range filter.columns[:filter.active] {
		floats.Scale(math.Sqrt(kappa)/wide, column)
	}
	squares, logs, n := 0.0, 0.0, 0.0
	surprise := make([]float64, 1)
	for t, y := range s.Values {
		if math.IsNaN(y) {
			filter.miss()
			continue
		}
		y -= f.scale * f.regressed(t+1)
		if p.delta.degree() == 0 {
			y -= f.location
		}
		variance := filter.take([]float64{y}, surprise)
		if variance < 1e4 {
			squares += surprise[0] * surprise[0] / variance
			logs += math.Log(variance)
			n++
		}
	}
	return -0.5 * (n*(math.Log(2*math.Pi*squares/n)+1) + logs), squares / n
}

// Passes is the log-likelihood at the coefficients of a fit to a series without gaps, but for constants: as the whitener
// computes it and as the filter does, which takes a series one by one.
func (f *Fitted) Passes(s forecast.Series) (fast, plain float64) {
	pr, err := prepare(s, f.order)
	if err != nil {
		return math.NaN(), math.NaN()
	}
	e := newEvaluator(pr)
	e.setCoefficients(f.Coefficients())
	fast = e.exact().objective()
	e.gaps = true
	e.begins()
	return fast, e.exact().objective()
}

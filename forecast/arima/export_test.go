package arima

// KPSS is kpss for the tests.
func KPSS(values []float64) float64 { return kpss(values) }

// Differences is differencesFor for the tests.
func Differences(values []float64) int { return differencesFor(values, maxDifference) }

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

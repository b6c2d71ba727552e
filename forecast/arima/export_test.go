package arima

// Partials and their inverse for the tests.
func FromPartial(partial []float64) []float64 {
	out := make([]float64, len(partial))
	fromPartial(partial, out, make([]float64, len(partial)))
	return out
}

// ToPartial is toPartial for the tests.
func ToPartial(coefficients []float64) ([]float64, bool) {
	out := make([]float64, len(coefficients))
	ok := toPartial(coefficients, out)
	return out, ok
}

// StationaryCovariance is the covariance with which the filter of an ARMA starts, and its transition: A and R of
// P = A·P·Aᵀ + R·Rᵀ.
func StationaryCovariance(ar, ma []float64) (cov [][]float64, step func([][]float64) [][]float64) {
	p := newProcess(Order{P: len(ar), Q: len(ma)})
	p.setCoefficients(ar, ma)
	f := newFilter(p)
	f.start()
	unflatten := func() [][]float64 {
		out := make([][]float64, f.m)
		for i := range out {
			out[i] = append([]float64(nil), f.cov[i*f.m:(i+1)*f.m]...)
		}
		return out
	}
	return unflatten(), func(in [][]float64) [][]float64 {
		for i, row := range in {
			copy(f.cov[i*f.m:], row)
		}
		f.advance()
		return unflatten()
	}
}

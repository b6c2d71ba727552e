package shape

// Highest and Coarse are the sliding maxima after each value.
func Highest(window int, values []float64) []float64 {
	h := newHighest(window)
	return maxima(values, h.push, h.max)
}

func Coarse(window int, values []float64) []float64 {
	c := newCoarse(window)
	return maxima(values, c.push, c.max)
}

func maxima(values []float64, push func(float64), now func() float64) []float64 {
	var out []float64
	for _, v := range values {
		push(v)
		out = append(out, now())
	}
	return out
}

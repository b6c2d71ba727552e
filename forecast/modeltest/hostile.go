package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// length of the longer hostile series.
const length = 120

// Hostile are values that break careless models, by name.
func Hostile() map[string][]float64 {
	nan := math.NaN()
	plain := noise(length)
	out := map[string][]float64{
		"nothing":                nil,
		"only gaps":              {nan, nan, nan, nan, nan, nan},
		"infinite":               {1, 2, math.Inf(1), 3, 4, 5, 6, 7, 8, 9},
		"too large":              {1, 2, 1e200, 3, 4, 5, 6, 7, 8, 9},
		"two among gaps":         {1, nan, nan, nan, nan, 2, nan, nan, nan},
		"every third missing":    withGaps(plain, 3),
		"every other missing":    withGaps(plain, 2),
		"an outage at the start": slices.Concat(plain[:3], withGaps(plain[:40], 1), plain),
	}
	for n := 1; n <= 6; n++ {
		out[fmt.Sprintf("%d points", n)] = plain[:n]
	}
	for name, f := range shapes(plain) {
		values := make([]float64, length)
		for i := range values {
			values[i] = f(i)
		}
		out[name] = values
	}
	return out
}

func shapes(plain []float64) map[string]func(i int) float64 {
	return map[string]func(i int) float64{
		"constant":        func(int) float64 { return 7.3 },
		"zeros":           func(int) float64 { return 0 },
		"zeros, then one": func(i int) float64 { return float64(i / (length - 1)) },
		"a line":          func(i int) float64 { return 0.1 * float64(i) },
		"a parabola":      func(i int) float64 { return float64(i * i) },
		"alternating":     func(i int) float64 { return float64(i%2)*2 - 1 },
		"a sine":          func(i int) float64 { return math.Sin(float64(i)) },
		"explosive":       func(i int) float64 { return math.Exp(float64(i)) },
		"a step":          func(i int) float64 { return float64(i / 60 * 1000) },
		"a spike": func(i int) float64 {
			if i == length/2 {
				return 1e9
			}
			return plain[i]
		},
		"1e-300":                  func(i int) float64 { return plain[i] * 1e-300 },
		"subnormal":               func(i int) float64 { return plain[i] * 1e-322 },
		"1e149":                   func(i int) float64 { return plain[i] * 1e147 },
		"noise in the last digit": func(i int) float64 { return 1e15 + float64(i%3)*0.125 },
	}
}

// noise is a level with a season of 12 and independent errors.
func noise(n int) []float64 {
	random := rand.New(rand.NewPCG(9, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = 100 + 10*math.Sin(2*math.Pi*float64(i)/12) + random.NormFloat64()
	}
	return out
}

// withGaps is a copy with every n-th value missing.
func withGaps(values []float64, n int) []float64 {
	out := slices.Clone(values)
	for i := n - 1; i < len(out); i += n {
		out[i] = math.NaN()
	}
	return out
}

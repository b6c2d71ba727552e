package decompose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast/decompose"
)

// load is n hours of a busy service: days, weeks and noise.
func load(n int) []float64 {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]float64, n)
	for i := range out {
		out[i] = 1000 + 300*math.Sin(2*math.Pi*float64(i)/24) + 150*math.Sin(2*math.Pi*float64(i)/168) +
			20*random.NormFloat64()
	}
	return out
}

func BenchmarkDecompose(b *testing.B) {
	values := load(900)
	gaps := append([]float64(nil), values...)
	for i := 10; i < len(gaps); i += 50 {
		gaps[i] = math.NaN()
	}
	type decomposer interface {
		Decompose([]float64) (decompose.Decomposition, error)
	}
	for _, bench := range []struct {
		name   string
		method decomposer
		values []float64
	}{
		{"STL", decompose.STL{Period: 24, SeasonalWindow: 11}, values},
		{"STL robust", decompose.STL{Period: 24, SeasonalWindow: 11, Robust: true}, values},
		{"MSTL", decompose.MSTL{Periods: []int{24, 168}}, values},
		{"MSTL with gaps", decompose.MSTL{Periods: []int{24, 168}}, gaps},
		{"MSTL of a fortnight of minutes", decompose.MSTL{Periods: []int{1440, 10080}}, load(20160)},
	} {
		b.Run(fmt.Sprintf("%s n=%d", bench.name, len(bench.values)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bench.method.Decompose(bench.values); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package interval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/forewarm/forewarm/forecast/interval"
)

func ExampleScores() {
	scores := interval.NewScores(100)
	for i := 1; i <= 19; i++ {
		scores.Add(float64(i))
	}
	// ⌈0.95·(19+1)⌉ = 19: the largest of 19 scores bounds the next one with 95 %.
	fmt.Println(scores.Quantile(0.95), scores.Quantile(0.5))
	// Output: 19 10
}

// The sorted window must be the ring, sorted, after any sequence of scores.
func TestScoresAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const size = 37
	scores := interval.NewScores(size)
	var all []float64
	for i := range 2000 {
		v := float64(rng.IntN(50)) // many ties
		scores.Add(v)
		all = append(all, v)
		window := slices.Clone(all[max(0, len(all)-size):])
		slices.Sort(window)
		for _, p := range []float64{0.01, 0.3, 0.5, 0.9, 0.99} {
			rank := min(max(int(math.Ceil(p*float64(len(window)+1)-1e-9)), 1), len(window))
			if got, want := scores.Quantile(p), window[rank-1]; got != want {
				t.Fatalf("after %d scores: quantile %v = %v, want %v", i+1, p, got, want)
			}
		}
	}
}

func TestScoresWithoutOne(t *testing.T) {
	scores := interval.NewScores(3)
	scores.Add(math.NaN())
	scores.Add(math.Inf(1))
	scores.Add(1e300) // beyond single precision
	if got := scores.Quantile(0.5); scores.Len() != 0 || !math.IsNaN(got) {
		t.Errorf("after scores that are not finite: %d held, quantile %v; want none, NaN", scores.Len(), got)
	}
}

func TestScoresAddDoesNotAllocate(t *testing.T) {
	scores := interval.NewScores(480)
	rng := rand.New(rand.NewPCG(1, 2))
	if n := testing.AllocsPerRun(2000, func() { scores.Add(rng.Float64()) }); n != 0 {
		t.Errorf("Add allocates %v times, want 0", n)
	}
}

// A conformal quantile must cover what it promises when scores are exchangeable, whatever their distribution.
func TestConformalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func() float64{
		"normal":      rng.NormFloat64,
		"exponential": rng.ExpFloat64,
		"heavy tails": func() float64 { return rng.NormFloat64() / math.Sqrt(rng.Float64()) },
	} {
		scores := interval.NewScores(480)
		for range 480 {
			scores.Add(draw())
		}
		const trials = 40000
		within := 0
		for range trials {
			v := draw()
			if v <= scores.Quantile(0.95) {
				within++
			}
			scores.Add(v)
		}
		// 480 scores leave the coverage itself a standard deviation of about 0.01; 40,000 trials see many windows.
		if got := float64(within) / trials; math.Abs(got-0.95) > 0.006 {
			t.Errorf("%s: coverage %.4f, want 0.95", name, got)
		}
	}
}

// After a shift of the scores a fixed window covers too little for as long as it remembers; the adaptive level must
// come back sooner.
func TestAdaptiveRecoversFromDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	misses := func(rate float64) int {
		scores, adaptive := interval.NewScores(480), interval.NewAdaptive(0.95, rate)
		for range 480 {
			scores.Add(rng.NormFloat64())
		}
		count := 0
		for range 400 {
			v := 1.5 * rng.NormFloat64() // half as volatile again
			within := v <= scores.Quantile(adaptive.Level(0.95))
			if !within {
				count++
			}
			adaptive.Record(within)
			scores.Add(v)
		}
		return count
	}
	var fixed, adapted int
	for range 200 {
		fixed += misses(0)
		adapted += misses(0.02)
	}
	if float64(adapted) > 0.9*float64(fixed) {
		t.Errorf("misses after a drift: %d adaptive, %d fixed; want at least a tenth fewer", adapted, fixed)
	}
}

func TestAdaptiveLevelIsMonotoneAndIdentityAtRest(t *testing.T) {
	for _, p := range []float64{0.05, 0.5, 0.9, 0.95, 0.995} {
		rested := interval.NewAdaptive(p, 0.02)
		missing, hitting := rested, rested
		for range 1000 {
			missing.Record(false)
			hitting.Record(true)
		}
		for name, a := range map[string]interval.Adaptive{"rested": rested, "missing": missing, "hitting": hitting} {
			last := -1.0
			for q := 0.005; q < 1; q += 0.005 {
				level := a.Level(q)
				if level < last || level < 0 || level > 1 {
					t.Fatalf("p=%v %s: level(%v) = %v after %v", p, name, q, level, last)
				}
				if name == "rested" && math.Abs(level-q) > 1e-12 {
					t.Fatalf("p=%v at rest: level(%v) = %v", p, q, level)
				}
				last = level
			}
		}
		if p > 0.5 && !(missing.Level(p) > p && hitting.Level(p) < p) {
			t.Errorf("p=%v: misses must raise the level and hits lower it: %v, %v", p, missing.Level(p),
				hitting.Level(p))
		}
	}
}

// A copy keeps what the scores were when it was made.
func TestScoresClone(t *testing.T) {
	s := interval.NewScores(5)
	for _, v := range []float64{3, 1, 2, 5, 4, 0} {
		s.Add(v)
	}
	c := s.Clone()
	s.Add(100)
	if got := c.Quantile(0.99); got != 5 {
		t.Errorf("the highest is %v, want 5", got)
	}
	c.Add(7)
	if got, want := c.Len(), 5; got != want || c.Quantile(0.99) != 7 || s.Quantile(0.99) != 100 {
		t.Errorf("%d scores up to %v, the other up to %v; want 5 up to 7 and 100", got, c.Quantile(0.99),
			s.Quantile(0.99))
	}
}

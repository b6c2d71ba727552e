package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast/diagnose"
)

// Six weeks of hours, busy by day and idle on two days of the week, whatever noise there is.
func ExamplePeriods() {
	random := rand.New(rand.NewPCG(1, 2))
	var load []float64
	for i := range 6 * 7 * 24 {
		hour, day := i%24, i/24%7
		v := 10 + random.NormFloat64()
		if hour >= 8 && hour < 18 && day < 5 {
			v += 5
		}
		load = append(load, v)
	}
	for _, p := range diagnose.Periods(load, time.Hour) {
		fmt.Printf("%d hours, strength %.1f\n", p.Length, p.Strength)
	}
	// Output:
	// 24 hours, strength 0.8
	// 168 hours, strength 0.8
}

func lengths(periods []diagnose.Period) []int {
	var out []int
	for _, p := range periods {
		out = append(out, p.Length)
	}
	return out
}

func TestPeriodsOfClassics(t *testing.T) {
	for name, want := range map[string][]int{
		"AirPassengers": {12}, "Nile": nil, "LakeHuron": nil, "WWWusage": nil, "lh": nil, "presidents": nil,
	} {
		if got := lengths(diagnose.Periods(classicValues(t, name), 0)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	values := classicValues(t, "AirPassengers")
	for _, i := range []int{5, 40, 41, 42, 100} {
		values[i] = math.NaN()
	}
	if got := lengths(diagnose.Periods(values, 0)); !slices.Equal(got, []int{12}) {
		t.Errorf("AirPassengers with gaps: %v, want [12]", got)
	}
}

func TestPeriodsAgainstTheirFrequencies(t *testing.T) {
	data := figures(t)
	for _, name := range []string{
		"USAccDeaths", "co2", "nottem", "UKgas", "JohnsonJohnson", "ldeaths", "UKDriverDeaths", "woolyrnq",
	} {
		got, want := lengths(diagnose.Periods(data.values(name), 0)), []int{data.Series[name].Frequency}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := lengths(diagnose.Periods(data.values("taylor_4w"), 30*time.Minute)); !slices.Equal(got, []int{48, 336}) {
		t.Errorf("half-hours of electricity: %v, want [48 336]", got)
	}
}

// Chance has no season, whatever it is that wanders.
func TestChanceHasNoPeriod(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, next := range map[string]func(before float64) float64{
		"noise":         func(float64) float64 { return random.NormFloat64() },
		"heavy tails":   func(float64) float64 { return math.Exp(2 * random.NormFloat64()) },
		"a random walk": func(before float64) float64 { return before + random.NormFloat64() },
		"a slow return": func(before float64) float64 { return 0.8*before + random.NormFloat64() },
	} {
		for _, step := range []time.Duration{0, time.Hour} {
			const trials = 40
			found := 0
			for range trials {
				values := make([]float64, 700)
				for i := 1; i < len(values); i++ {
					values[i] = next(values[i-1])
				}
				if diagnose.Periods(values, step) != nil {
					found++
				}
			}
			// One or two in a hundred; five of forty would come once in a thousand runs.
			if found > 4 {
				t.Errorf("%s, step %v: a season in %d of %d", name, step, found, trials)
			}
		}
	}
}

// A season that repeats exactly needs no more than three cycles; a trend beside it does no harm.
func TestThreeCyclesAreEnough(t *testing.T) {
	values := make([]float64, 3*24)
	for i := range values {
		values[i] = float64(i*i) + []float64{0, 500, 100, 0, 0, 900}[i%24/4]
	}
	if got := lengths(diagnose.Periods(values, time.Hour)); !slices.Equal(got, []int{24}) {
		t.Errorf("%v, want [24]", got)
	}
	if got := diagnose.Periods(values[:71], time.Hour); got != nil {
		t.Errorf("one step less than three cycles: %v, want none", got)
	}
}

func BenchmarkPeriods(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{900, 20160} {
		values := make([]float64, n)
		for i := range values {
			values[i] = 100 + 30*math.Sin(2*math.Pi*float64(i)/24) + 5*random.NormFloat64()
		}
		for _, step := range []time.Duration{0, time.Hour} {
			b.Run(fmt.Sprintf("n=%d step=%v", n, step), func(b *testing.B) {
				for b.Loop() {
					diagnose.Periods(values, step)
				}
			})
		}
	}
}

package margin_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/decide/margin"
)

// late is an hour's late demand under each multiple, as shares of what arrived.
func late(arrived float64, share func(k float64) float64) []float64 {
	var out []float64
	for _, k := range margin.Grid() {
		out = append(out, arrived*share(k))
	}
	return out
}

// paid is the capacity of an hour: as much as arrived, and a tenth more for every step of the multiple by 1.
func paid(arrived float64) []float64 {
	var out []float64
	for _, k := range margin.Grid() {
		out = append(out, arrived*(1+0.1*k))
	}
	return out
}

// fading lets a tenth be late at no margin, and half as much with every step of the multiple by 1.
func fading(k float64) float64 { return 0.1 * math.Exp2(-k) }

func TestPrior(t *testing.T) {
	for name, tt := range map[string]struct {
		lead time.Duration
		at   int
		want float64
	}{
		"a row of the table":          {5 * time.Minute, 5, 0.0119},
		"a shorter lead is the first": {time.Second, 0, 0.2428},
		"a longer one is the last":    {time.Hour, 17, 0.0002},
		// Half way between 5 and 10 minutes in the logarithm: the geometric mean of .0109 and .0073.
		"between two rows": {424264068712 * time.Nanosecond, 6, math.Sqrt(0.0109 * 0.0073)},
	} {
		if got := margin.Prior(tt.lead)[tt.at]; math.Abs(got/tt.want-1) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Before anything was seen the prior rules, but for a careful first day.
func TestBeginsWithThePrior(t *testing.T) {
	m := margin.New(margin.Prior(5 * time.Minute))
	if k, met := m.K(0.0119); k != 2 || !met {
		t.Errorf("k = %v (met %v) in the first day, want the careful 2", k, met)
	}
	for range 24 {
		m.Hour(0, make([]float64, len(margin.Grid())), paid(0))
	}
	if k, met := m.K(0.0119); math.Abs(k-1) > 1e-9 || !met {
		t.Errorf("k = %v (met %v) on a workload without demand, want the prior's 1", k, met)
	}
}

// What was seen takes over: after two months seven tenths of it are the workload's own.
func TestLearnsFromTheOutcome(t *testing.T) {
	m := margin.New(margin.Prior(5 * time.Minute))
	for range 24 * 60 {
		m.Hour(12, late(12, fading), paid(12))
	}
	k, met := m.K(0.025)
	if !met || math.Abs(k-2) > 0.5 {
		t.Errorf("k = %v (met %v), want near the 2 at which a fortieth is late", k, met)
	}
	got := m.Late()
	for i, k := range margin.Grid() {
		if want := fading(k); k <= 2 && math.Abs(got[i]/want-1) > 0.45 {
			t.Errorf("%v late under k = %v, want near %v", got[i], k, want)
		}
	}
}

// Bursts that come faster than pods start are late whatever the margin: then none is bought that does not pay.
func TestMarginThatDoesNotPay(t *testing.T) {
	for name, tt := range map[string]struct {
		late func(k float64) float64
		want float64
	}{
		"it buys nothing":       {func(float64) float64 { return 0.3 }, 0},
		"it pays up to a point": {func(k float64) float64 { return 0.3 * math.Exp2(-math.Min(k, 2)) }, 2},
		"it pays all the way":   {func(k float64) float64 { return 0.5 * math.Exp2(-k/2) }, 11},
		"a tenth for a tenth":   {func(k float64) float64 { return 0.3 / (1 + 0.1*k) }, 0},
	} {
		m := margin.New(slices.Repeat([]float64{1e-9}, len(margin.Grid())))
		for range 24 * 600 {
			m.Hour(12, late(12, tt.late), paid(12))
		}
		if k, met := m.K(0.0001); k != tt.want || met {
			t.Errorf("%s: k = %v (met %v), want %v", name, k, met, tt.want)
		}
	}
}

// A stricter objective never asks for less, a larger multiple is never expected to be later, whatever was seen.
func TestMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := margin.New(margin.Prior(time.Duration(1+rng.IntN(900)) * time.Second))
		for range rng.IntN(100) {
			arrived := 20 * rng.Float64()
			m.Hour(
				arrived,
				late(arrived, func(float64) float64 { return rng.Float64() * rng.Float64() }),
				paid(arrived),
			)
		}
		if shares := slices.Clone(m.Late()); !slices.IsSortedFunc(shares, func(a, b float64) int {
			if a < b {
				return 1
			}
			return 0
		}) {
			t.Fatalf("%v late, want it never to rise", shares)
		}
		before := math.Inf(1)
		for objective := 1e-5; objective < 0.9; objective *= 1.5 {
			k, _ := m.K(objective)
			if k > before || !(k >= 0 && k <= 11) {
				t.Fatalf("k = %v for %v, %v for a stricter one", k, objective, before)
			}
			before = k
		}
	}
}

package objective //nolint:testpackage // The estimator is internal.

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// late is an hour's late demand under each multiple, as shares of what arrived.
func late(arrived float64, share func(k float64) float64) []float64 {
	var out []float64
	for _, k := range FineGrid() {
		out = append(out, arrived*share(k))
	}
	return out
}

// paid is the capacity of an hour: as much as arrived, and a tenth more for every step of the multiple by 1.
func paid(arrived float64) []float64 {
	var out []float64
	for _, k := range FineGrid() {
		out = append(out, arrived*(1+0.1*k))
	}
	return out
}

// fading lets a tenth be late at no margin, and half as much with every step of the multiple by 1.
func fading(k float64) float64 { return 0.1 * math.Exp2(-k) }

// cautious is by how much more is expected to be late than was.
const cautious = 1.5

func prior(t *testing.T, lead time.Duration) []float64 {
	t.Helper()
	all, err := BuiltinPriors(lead)
	if err != nil {
		t.Fatal(err)
	}
	return all.Late.forGrid(FineGrid(), "regression")
}

// Between two lead times that were studied the prior is between theirs, in the logarithm; outside it is the edge's.
func TestShipped(t *testing.T) {
	short, long := prior(t, 5*time.Minute), prior(t, 10*time.Minute)
	between := prior(t, 424264068712*time.Nanosecond) // Half way in the logarithm.
	for i := range between {
		if want := math.Sqrt(short[i] * long[i]); math.Abs(between[i]/want-1) > 1e-6 {
			t.Errorf("%v late under multiple %d between two lead times, want %v", between[i], i, want)
		}
	}
	if diff := gocmp.Diff(prior(t, 2*time.Minute), prior(t, time.Second)); diff != "" {
		t.Errorf("a shorter lead time is not the shortest studied (-want +got)\n%s", diff)
	}
	if diff := gocmp.Diff(long, prior(t, time.Hour)); diff != "" {
		t.Errorf("a longer lead time is not the longest studied (-want +got)\n%s", diff)
	}
}

// What was written is what is read.
func TestPriorsAreWritten(t *testing.T) {
	var text bytes.Buffer
	if err := (Priors{Late: Shares{"regression": {0.25, 1.0 / 3}}, BadHours: Shares{"regression": {0.5}}}).Write(
		&text,
		time.Minute,
	); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), `{"lead":60,"late":{"regression":[0.25,0.333]},"bad_hours":{"regression":[0.5]}}`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Before anything was seen the prior rules, and so it does without demand.
func TestBeginsWithThePrior(t *testing.T) {
	m := newEstimator(FineGrid(), prior(t, 5*time.Minute), cautionOfLate())
	one := cautious * prior(t, 5*time.Minute)[5]
	for hours := range 24 {
		if k, met := m.curve().forObjective(one); math.Abs(k-1) > 1e-9 || !met {
			t.Errorf("k = %v (met %v) after %d hours without demand, want the prior's 1", k, met, hours)
		}
		m.add(hour{Late: make([]float64, len(FineGrid())), Paid: paid(0)})
	}
}

// What was seen takes over: after two months seven tenths of it are the workload's own.
func TestLearnsFromTheOutcome(t *testing.T) {
	m := newEstimator(FineGrid(), prior(t, 5*time.Minute), cautionOfLate())
	for range 24 * 60 {
		m.add(hour{Arrived: 12, Late: late(12, fading), Paid: paid(12)})
	}
	k, met := m.curve().forObjective(0.025)
	if !met || math.Abs(k-2) > 0.5 {
		t.Errorf("k = %v (met %v), want near the 2 at which a fortieth is late", k, met)
	}
	for _, got := range m.curve().Points {
		if want := cautious * fading(got.Multiplier); got.Multiplier <= 2 && math.Abs(got.Late/want-1) > 0.45 {
			t.Errorf("%v late under k = %v, want near %v", got.Late, got.Multiplier, want)
		}
	}
}

// never is late of a workload that is never late.
func never(float64) float64 { return 0 }

// after is what is expected after so many hours of a demand, as a share of the prior.
func after(t *testing.T, m *estimator, hours int, arrived float64, share func(k float64) float64) []float64 {
	t.Helper()
	for range hours {
		m.add(hour{Arrived: arrived, Late: late(arrived, share), Paid: paid(arrived)})
	}
	var out []float64
	for i, p := range m.curve().Points {
		out = append(out, p.Late/(cautious*prior(t, 5*time.Minute)[i]))
	}
	return out
}

// A calm workload is known within hours by the multipliers at which others are often late, and after weeks by those at which
// they rarely are.
func TestTheFrequentIsKnownSoon(t *testing.T) {
	others := prior(t, 5*time.Minute)
	m := newEstimator(FineGrid(), others, cautionOfLate())
	day := after(t, m, 24, 12, never)
	if day[0] > 0.2 || day[5] < 0.4 || day[len(day)-1] < 0.8 {
		t.Errorf("after a day %.2f of the prior, want little at 0, half at 1, and most of it at 11", day)
	}
	if month := after(t, m, 29*24, 12, never); month[5] > 0.35 || month[len(month)-1] < 0.2 {
		t.Errorf("after a month %.2f of the prior, want a third at 1, and more at 11", month)
	}
}

// Two calm weeks say little of a demand three times as large: where a twentieth of it is late, that is known within a day.
func TestACalmPastIsNoProofOfALargerDemand(t *testing.T) {
	m := newEstimator(FineGrid(), prior(t, 5*time.Minute), cautionOfLate())
	after(t, m, 14*24, 10, never)
	before := m.curve().Points[5].Late
	after(t, m, 24, 30, func(float64) float64 { return 0.05 })
	if now := m.curve().Points[5].Late; now < 0.01 || now < 4*before {
		t.Errorf("%.4f expected after a wild day, %.4f before it", now, before)
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
		m := newEstimator(FineGrid(), slices.Repeat([]float64{1e-9}, len(FineGrid())), cautionOfLate())
		for range 24 * 600 {
			m.add(hour{Arrived: 12, Late: late(12, tt.late), Paid: paid(12)})
		}
		if k, met := m.curve().forObjective(0.0001); k != tt.want || met {
			t.Errorf("%s: k = %v (met %v), want %v", name, k, met, tt.want)
		}
	}
}

// A stricter objective never asks for less, a larger multiple is never expected to be later, whatever was seen.
func TestMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		shipped := prior(t, time.Duration(1+rng.IntN(900))*time.Second)
		m := newEstimator(FineGrid(), shipped, cautionOfLate())
		for range rng.IntN(100) {
			arrived := 20 * rng.Float64()
			m.add(hour{
				Arrived: arrived,
				Late:    late(arrived, func(float64) float64 { return rng.Float64() * rng.Float64() }),
				Paid:    paid(arrived),
			})
		}
		points := m.curve().Points
		if !slices.IsSortedFunc(points, func(a, b Point) int { return cmp.Compare(b.Late, a.Late) }) {
			t.Fatalf("%v, want the lateness never to rise", points)
		}
		before := math.Inf(1)
		for objective := 1e-5; objective < 0.9; objective *= 1.5 {
			k, _ := m.curve().forObjective(objective)
			if k > before || !(k >= 0 && k <= 11) {
				t.Fatalf("k = %v for %v, %v for a stricter one", k, objective, before)
			}
			before = k
		}
	}
}

// A stricter target than the objective costs a tenth more at most, a looser one is free.
func TestACorrectionIsBounded(t *testing.T) {
	points := []Point{
		{Multiplier: 0, Late: 0.1, RelativeCost: 1},
		{Multiplier: 1, Late: 0.01, RelativeCost: 2},
		{Multiplier: 2, Late: 0.001, RelativeCost: 4},
	}
	for _, tt := range []struct {
		name   string
		target float64
		want   float64
	}{
		{"the objective itself", 0.01, 1},
		{"a looser one", 0.1, 0},
		{"a stricter one, within a tenth", 0.0095, 1 + math.Log(0.01/0.0095)/math.Log(10)},
		{"one that would double the cost: 2.2 is between 2 and 4", 0.001, 1.1},
	} {
		if got := (Curve{Points: points, Max: 2}).forTarget(0.01, tt.target); math.Abs(got-tt.want) > 1e-3 {
			t.Errorf("%s: k = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Where a larger value falls within an autoscaler's tolerance more is late than under a smaller one: the smaller one was lucky.
func TestLuckOfASmallMultiplier(t *testing.T) {
	m := newEstimator(FineGrid(), prior(t, 5*time.Minute), cautionOfLate())
	after(t, m, 14*24, 12, func(k float64) float64 {
		switch k {
		case 0:
			return 0.005
		case 0.2:
			return 0.17
		}
		return 0
	})
	if k, met := m.curve().forObjective(0.01); k <= 0.2 || !met {
		t.Errorf("k = %v (met %v), want more than the 0.2 at which a sixth was late", k, met)
	}
}

// At a price the cheapest of the multiples is served: 10 + 0.1·price, 11 + 0.01·price, 13 + 0.001·price.
func TestCheapest(t *testing.T) {
	known := []Point{
		{Multiplier: 0, Late: 0.1, RelativeCost: 10},
		{Multiplier: 1, Late: 0.01, RelativeCost: 11},
		{Multiplier: 2, Late: 0.001, RelativeCost: 13},
	}
	unknown := []Point{
		{Multiplier: 0, Late: 0.1, RelativeCost: math.NaN()},
		{Multiplier: 11, Late: 0.01, RelativeCost: math.NaN()},
	}
	for _, tt := range []struct {
		name  string
		curve Curve
		price float64
		want  float64
	}{
		{"late demand for next to nothing", Curve{Points: known}, 1e-6, 0},
		{"below what the first step is worth, 1/0.09", Curve{Points: known}, 11, 0},
		{"above it", Curve{Points: known}, 12, 1},
		{"above what the second is worth, 2/0.009", Curve{Points: known}, 223, 2},
		{"no more expensive than the grid", Curve{Points: known}, 1e6, 2},
		{"where nothing was paid", Curve{Points: unknown}, 1e6, 2},
	} {
		if got := tt.curve.forPrice(tt.price); got != tt.want {
			t.Errorf("%s: k = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// An hour that is twice as late as makes it bad counts in full, and less in proportion.
func TestWhatCountsTowardsBadHours(t *testing.T) {
	got := badDemand(50, []float64{0, 1, 5, 10, 50})
	if diff := gocmp.Diff(
		[]float64{0, 5, 25, 50, 50},
		got,
		cmpopts.EquateApprox(1e-9, 0),
	); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := badDemand(0, []float64{0, 1}); got[0] != 0 || got[1] != 0 {
		t.Errorf("without demand: %v", got)
	}
}

// What counts towards bad hours is corrected more than late demand where it was seen, and less where only others saw it.
func TestCautionOfBadHours(t *testing.T) {
	const hours, seen = 100, 0.02
	others := slices.Repeat([]float64{0.1}, len(FineGrid()))
	calm := [2]float64{}
	for i, of := range []caution{cautionOfLate(), cautionOfBadHours()} {
		m := newEstimator(FineGrid(), others, of)
		if got := m.curve().Points[0].Late; math.Abs(got/(0.1*of.optimism)-1) > 1e-9 {
			t.Errorf("%+v: %v expected before anything is seen, want what others saw times the optimism", of, got)
		}
		for range hours {
			m.add(hour{Arrived: 1, Late: late(1, func(k float64) float64 {
				if k == 0 {
					return seen
				}
				return 0
			}), Paid: paid(1)})
		}
		points := m.curve().Points
		if got := points[0].Late; got < 0.9*of.optimism*seen || got > 1.5*of.optimism*seen {
			t.Errorf("%+v: %v expected where %v was seen, want nearly the optimism times as much", of, got, seen)
		}
		calm[i] = points[len(points)-1].Late
	}
	if calm[1] >= calm[0] {
		t.Errorf("where nothing was seen %v of bad hours are expected, %v of late demand: want fewer", calm[1], calm[0])
	}
}

package quantreg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/quantreg"
)

// stackLoss are Brownlee's 21 days of a plant that oxidises ammonia (1965): a constant, air flow, water temperature and
// acid, and the loss.
func stackLoss() quantreg.Rows {
	var rows quantreg.Rows
	for _, r := range [][4]float64{
		{80, 27, 89, 42},
		{80, 27, 88, 37},
		{75, 25, 90, 37},
		{62, 24, 87, 28},
		{62, 22, 87, 18},
		{62, 23, 87, 18},
		{62, 24, 93, 19},
		{62, 24, 93, 20},
		{58, 23, 87, 15},
		{58, 18, 80, 14},
		{58, 18, 89, 14},
		{58, 17, 88, 13},
		{58, 18, 82, 11},
		{58, 19, 93, 12},
		{50, 18, 89, 8},
		{50, 18, 86, 7},
		{50, 19, 72, 8},
		{50, 19, 79, 8},
		{50, 20, 80, 9},
		{56, 20, 82, 15},
		{70, 20, 91, 15},
	} {
		rows.X = append(rows.X, 1, r[0], r[1], r[2])
		rows.Y = append(rows.Y, r[3])
	}
	return rows
}

// spread are n rows of a constant and x from 0 to 1, with errors that grow with x and are skewed.
func spread(n int) quantreg.Rows {
	random := rand.New(rand.NewPCG(4, 2))
	var rows quantreg.Rows
	for range n {
		x := random.Float64()
		rows.X = append(rows.X, 1, x)
		rows.Y = append(rows.Y, 2+3*x+(1+x)*random.ExpFloat64())
	}
	return rows
}

func fit(t *testing.T, r quantreg.Regression, rows quantreg.Rows) quantreg.Coefficients {
	t.Helper()
	c, err := r.Fit(rows)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The least absolute deviations of the stack loss, as R's quantreg prints them (rq's example; Koenker 2005).
func TestStackLoss(t *testing.T) {
	c := fit(t, quantreg.Regression{Level: 0.5, Epsilon: 1e-6, Passes: 1000}, stackLoss())
	want := quantreg.Coefficients{-39.68985507, 0.83188406, 0.57391304, -0.06086957}
	if diff := cmp.Diff(want, c, cmpopts.EquateApprox(0, 1e-4)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A solution is optimal where no direction lowers the loss: the sum of p − 1(r<0) times the regressors is made up by the
// rows on the plane, each with a factor from p−1 to p (Koenker & Bassett 1978, theorem 3.3). With a constant among the
// regressors the share of the rows below is p, up to those on the plane.
func TestOptimal(t *testing.T) {
	rows := spread(400)
	for _, p := range []float64{0.05, 0.3, 0.5, 0.9, 0.95} {
		c := fit(t, quantreg.Regression{Level: p, Epsilon: 1e-7, Passes: 2000}, rows)
		below, slack := 0.0, [2]float64{}
		subgradient := [2]float64{}
		for i, y := range rows.Y {
			x := rows.X[2*i : 2*i+2]
			switch r := y - c.At(x); {
			case math.Abs(r) < 1e-4:
				slack[0] += math.Abs(x[0])
				slack[1] += math.Abs(x[1])
			case r < 0:
				below++
				subgradient[0] -= (1 - p) * x[0]
				subgradient[1] -= (1 - p) * x[1]
			default:
				subgradient[0] += p * x[0]
				subgradient[1] += p * x[1]
			}
		}
		for j := range subgradient {
			if math.Abs(subgradient[j]) > slack[j]+1e-6 {
				t.Errorf("p = %v: the loss falls along regressor %d by %v, beyond %v", p, j, subgradient[j], slack[j])
			}
		}
		if share := below / float64(len(rows.Y)); math.Abs(share-p) > 2.0/400 {
			t.Errorf("p = %v: %v of the rows lie below", p, share)
		}
	}
}

// The quantiles of the process: 2 + 3x + (1+x)·q, where q is that of the exponential distribution.
func TestQuantilesOfAProcess(t *testing.T) {
	rows := spread(40_000)
	for _, p := range []float64{0.5, 0.95} {
		q := -math.Log(1 - p)
		want := quantreg.Coefficients{2 + q, 3 + q}
		c := fit(t, quantreg.Regression{Level: p}, rows)
		if diff := cmp.Diff(want, c, cmpopts.EquateApprox(0, 0.15)); diff != "" {
			t.Errorf("p = %v (-want +got)\n%s", p, diff)
		}
	}
}

// Targets in another unit, moved by a plane, or regressors in another unit: the coefficients follow (Koenker & Bassett
// 1978, theorem 3.2).
func TestEquivariance(t *testing.T) {
	for _, unit := range []float64{1e-30, 1e3, 1e30} {
		r := quantreg.Regression{Level: 0.8}
		rows, other := spread(300), spread(300)
		want := fit(t, r, rows)
		for i := range other.Y {
			other.Y[i] *= unit
		}
		got := fit(t, r, other)
		for i := range got {
			got[i] /= unit
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("targets times %g (-want +got)\n%s", unit, diff)
		}
		other = spread(300)
		for i := range other.Y {
			other.X[2*i+1] *= unit
		}
		got = fit(t, quantreg.Regression{Level: 0.8, Penalty: 0.1}, other)
		got[1] *= unit
		want = fit(t, quantreg.Regression{Level: 0.8, Penalty: 0.1}, rows)
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("a regressor times %g (-want +got)\n%s", unit, diff)
		}
	}
}

// A weight of 2 is a row twice, and one of 0 none.
func TestWeights(t *testing.T) {
	rows := spread(100)
	twice := quantreg.Rows{X: append(append([]float64(nil), rows.X...), rows.X[:100]...)}
	twice.Y = append(append([]float64(nil), rows.Y...), rows.Y[:50]...)
	for i := range 150 {
		weight := 2.0
		if i >= 50 {
			weight = 1
		}
		if i < 100 {
			rows.Weights = append(rows.Weights, weight)
		} else {
			rows.X, rows.Y, rows.Weights = append(rows.X, 1, 7), append(rows.Y, 1e6), append(rows.Weights, 0)
		}
	}
	r := quantreg.Regression{Level: 0.7, Epsilon: 0.01}
	if diff := cmp.Diff(fit(t, r, twice), fit(t, r, rows), cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A prior that counts for little is overruled, one that counts for much rules, and one measured on the rows themselves
// changes nothing.
func TestPrior(t *testing.T) {
	rows := spread(1000)
	r := quantreg.Regression{Level: 0.9}
	own := fit(t, r, rows)
	precision, err := r.Precision(rows, own)
	if err != nil {
		t.Fatal(err)
	}
	far := &quantreg.Prior{Mean: []float64{own[0] + 1, own[1] - 1}, Precision: precision}
	for _, tt := range []struct {
		rows float64
		want quantreg.Coefficients
	}{
		{1e-6, own}, {1e9, far.Mean},
	} {
		r.Prior = far.Times(tt.rows)
		if diff := cmp.Diff(tt.want, fit(t, r, rows), cmpopts.EquateApprox(0, 1e-3)); diff != "" {
			t.Errorf("a prior of %g rows (-want +got)\n%s", tt.rows, diff)
		}
	}
	same := quantreg.Prior{Mean: own, Precision: precision}
	r.Prior = same.Times(1000)
	if diff := cmp.Diff(own, fit(t, r, rows), cmpopts.EquateApprox(0, 1e-3)); diff != "" {
		t.Errorf("a prior from the same rows (-want +got)\n%s", diff)
	}
}

// Collinear regressors and one that is always 0 still give a plane, and the same one each time.
func TestDegenerate(t *testing.T) {
	rows := quantreg.Rows{}
	for i := range 50 {
		x := float64(i)
		rows.X, rows.Y = append(rows.X, x, 2*x, 0), append(rows.Y, 5*x)
	}
	c := fit(t, quantreg.Regression{Level: 0.5}, rows)
	if got := c.At([]float64{1, 2, 0}); math.Abs(got-5) > 1e-6 {
		t.Errorf("at 1: %v, want 5", got)
	}
	if diff := cmp.Diff(c, fit(t, quantreg.Regression{Level: 0.5}, rows)); diff != "" {
		t.Errorf("a second fit differs\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	good := spread(10)
	infinite, negative := spread(10), spread(10)
	infinite.Y[3] = math.Inf(1)
	negative.Weights = []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, -1}
	for _, tt := range []struct {
		name string
		r    quantreg.Regression
		rows quantreg.Rows
		want error
	}{
		{"no rows", quantreg.Regression{Level: 0.5}, quantreg.Rows{}, forecast.ErrTooShort},
		{
			"no row that counts",
			quantreg.Regression{Level: 0.5},
			quantreg.Rows{X: []float64{1}, Y: []float64{1}, Weights: []float64{0}},
			forecast.ErrTooShort,
		},
		{
			"rows of different lengths",
			quantreg.Regression{Level: 0.5},
			quantreg.Rows{X: []float64{1, 2, 3}, Y: []float64{1, 2}},
			forecast.ErrParameter,
		},
		{"a negative weight", quantreg.Regression{Level: 0.5}, negative, forecast.ErrParameter},
		{"an infinite target", quantreg.Regression{Level: 0.5}, infinite, forecast.ErrNotFinite},
		{"a level of 1", quantreg.Regression{Level: 1}, good, forecast.ErrParameter},
		{"a negative penalty", quantreg.Regression{Level: 0.5, Penalty: -1}, good, forecast.ErrParameter},
		{"a start of another width", quantreg.Regression{Level: 0.5, Start: []float64{1}}, good, forecast.ErrParameter},
		{
			"a prior of another width",
			quantreg.Regression{Level: 0.5, Prior: &quantreg.Prior{Mean: []float64{1}}},
			good,
			forecast.ErrParameter,
		},
	} {
		if _, err := tt.r.Fit(tt.rows); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestWithoutAllocation(t *testing.T) {
	c, row := quantreg.Coefficients{1, 2, 3}, []float64{1, 4, 5}
	if n := testing.AllocsPerRun(10, func() { row[2] = c.At(row) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Any numbers give finite coefficients or a known error.
func FuzzFit(f *testing.F) {
	f.Add(0.5, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
	f.Add(0.95, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
	f.Add(0.05, 3.0, 1e99, -1e99, 1e-300, 1e99, 1.0, -1e99)
	f.Fuzz(func(t *testing.T, p, penalty, a, b, c, d, e, g float64) {
		rows := quantreg.Rows{X: []float64{1, a, 1, b, 1, c}, Y: []float64{d, e, g}}
		got, err := quantreg.Regression{Level: p, Penalty: penalty, Passes: 20}.Fit(rows)
		if err != nil {
			for _, known := range []error{
				forecast.ErrParameter, forecast.ErrNotFinite, forecast.ErrTooShort, forecast.ErrNoConvergence,
			} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("unknown error %v", err)
		}
		for _, v := range got {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("coefficients %v", got)
			}
		}
	})
}

// Deliveries take longer the farther they go, and the late ones much longer: one regression for the usual time, one for
// what nineteen in twenty keep.
func ExampleRegression_Fit() {
	rows := quantreg.Rows{}
	for i := range 210 {
		kilometres := float64(1 + i%10)
		delay := float64(i / 10)
		rows.X = append(rows.X, 1, kilometres)
		rows.Y = append(rows.Y, 5+2*kilometres+delay*kilometres/10)
	}
	for _, p := range []float64{0.5, 0.95} {
		c, err := quantreg.Regression{Level: p}.Fit(rows)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %.0f minutes for 10 km\n", p, c.At([]float64{1, 10}))
	}
	// Output:
	// 0.5: 35 minutes for 10 km
	// 0.95: 44 minutes for 10 km
}

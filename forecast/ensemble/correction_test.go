package ensemble_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast/ensemble"
)

// beyond is a truth that lies beyond its members: they say 1, 2 and 3 times what moves it, it is 4 times that.
func beyond(n int, unit float64) (truths, blends []float64, points [][]float64) {
	random := rand.New(rand.NewPCG(2, 6))
	for range n {
		move := random.NormFloat64()
		members := make([]float64, 3)
		for k := range members {
			members[k] = unit * (100 + float64(k+1)*move + 0.1*random.NormFloat64())
		}
		points = append(points, members)
		blends = append(blends, (members[0]+members[1]+members[2])/3)
		truths = append(truths, unit*(100+4*move+random.NormFloat64()))
	}
	return truths, blends, points
}

func TestCorrectionLooksBeyondTheMembers(t *testing.T) {
	truths, blends, points := beyond(2000, 1)
	c, miss := ensemble.Correct(truths, blends, points)
	if miss > 0.01 {
		t.Errorf("the sweeps miss the solution by %.3f of it", miss)
	}
	before, after := 0.0, 0.0
	for i, y := range truths {
		corrected := blends[i]
		for k, v := range c {
			corrected += v * (points[i][k] - blends[i])
		}
		before += math.Abs(y - blends[i])
		after += math.Abs(y - corrected)
	}
	if after > 0.9*before {
		t.Errorf("corrected errors are %.3f of those before, want at most 0.9", after/before)
	}
}

func TestCorrectionHasNoUnit(t *testing.T) {
	want, _ := ensemble.Correct(beyond(500, 1))
	for _, unit := range []float64{1e-200, 1e140} {
		got, _ := ensemble.Correct(beyond(500, unit))
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("in a unit of %g (-want +got)\n%s", unit, diff)
		}
	}
}

// Until there are 300 errors nothing is corrected, nor where no error was made.
func TestCorrectionWaits(t *testing.T) {
	few, _ := ensemble.Correct(beyond(300, 1)) // The first of them count for a little less.
	_, blends, points := beyond(1000, 1)
	none, _ := ensemble.Correct(blends, blends, points)
	if diff := cmp.Diff([][]float64{{0, 0, 0}, {0, 0, 0}}, [][]float64{few, none}); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A member without a forecast, or one gone astray, leaves the coefficients finite.
func TestCorrectionOfHostileMembers(t *testing.T) {
	truths, blends, points := beyond(1000, 1)
	for i := range points {
		points[i][0] = math.NaN()
		points[i][1] = 1e150 * float64(i%3-1)
	}
	c, _ := ensemble.Correct(truths, blends, points)
	for _, v := range c {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("coefficients %v", c)
		}
	}
	if c[0] != 0 {
		t.Errorf("a member without forecasts has the coefficient %v", c[0])
	}
}

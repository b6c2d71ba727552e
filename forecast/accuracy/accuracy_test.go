package accuracy_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/accuracy"
	"github.com/forewarm/forewarm/forecast/naive"
	"github.com/forewarm/forewarm/testdata/classic"
)

var nan = math.NaN()

type measured struct {
	value float64
	err   error
}

func of(value float64, err error) measured { return measured{value, err} }

func TestMeasures(t *testing.T) {
	actual, point := []float64{1, 2, nan, 4, 8}, []float64{2, 2, 3, nan, 4}
	lower, upper := []float64{0, 3, 0, 0, 9}, []float64{2, 4, 1, 1, 12}
	train := []float64{1, 3, 2, 6, nan, 7}
	for _, c := range []struct {
		name string
		got  measured
		want float64
	}{
		{"MAE: errors 1, 0 and 4", of(accuracy.MAE(actual, point)), 5.0 / 3},
		{"RMSE", of(accuracy.RMSE(actual, point)), math.Sqrt(17.0 / 3)},
		{"RMSE of huge errors", of(accuracy.RMSE([]float64{1e300, 0}, []float64{0, 0})), 1e300 / math.Sqrt2},
		{"RMSE of tiny errors", of(accuracy.RMSE([]float64{1e-300, 0}, []float64{0, 0})), 1e-300 / math.Sqrt2},
		{"RMSE of none", of(accuracy.RMSE([]float64{3}, []float64{3})), 0},
		{"MASE: the training steps are 2, 1 and 4", of(accuracy.MASE(actual, point, train, 1)), 5.0 / 7},
		{"MASE of period 2: 1, 3", of(accuracy.MASE(actual, point, train, 2)), 5.0 / 3 * 3 / 5},
		{"sMAPE: 1 of 3, 0 of 4, 4 of 12", of(accuracy.SMAPE(actual, point)), 400.0 / 9},
		{"sMAPE of zeros", of(accuracy.SMAPE([]float64{0, 1}, []float64{0, 0})), 100},
		{"pinball: 0.1, 0 and 3.6", of(accuracy.Pinball(actual, point, 0.9)), 3.7 / 3},
		{"Winkler: widths 7, missed by 5", of(accuracy.Winkler(actual, lower, upper, 0.2)), (7 + 10*5.0) / 4},
		// 2·(.1·1 + .9·1)/(2 + 4) at .1, where 1 and -3 were given, and 2·(.5·0 + .5·2)/6 at .5.
		{"WQL", of(accuracy.WQL([]float64{2, nan, -4}, [][]float64{{1, 9, -3}, {2, 9, -2}}, []float64{0.1, 0.5})), 1.0 / 3},
		{"OWA: half and a quarter", of(accuracy.OWA(accuracy.Score{MASE: 1, SMAPE: 5}, accuracy.Score{MASE: 2, SMAPE: 20})), 0.375},
		{"coverage: one of four", of(accuracy.Coverage(actual, lower, upper)), 0.25},
		{"coverage counts the bounds", of(accuracy.Coverage([]float64{1, 2}, []float64{1, 1}, []float64{2, 2})), 1},
	} {
		if c.got.err != nil {
			t.Errorf("%s: %v", c.name, c.got.err)
		}
		if math.Abs(c.got.value-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got.value, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	one, two := []float64{1}, []float64{1, 2}
	for _, c := range []struct {
		name string
		got  measured
		want error
	}{
		{"different lengths", of(accuracy.MAE(one, two)), forecast.ErrParameter},
		{"nothing", of(accuracy.MAE(nil, nil)), forecast.ErrTooShort},
		{"only gaps", of(accuracy.SMAPE([]float64{nan, 1}, []float64{1, nan})), forecast.ErrTooShort},
		{"different lengths, squared", of(accuracy.RMSE(two, one)), forecast.ErrParameter},
		{"no training", of(accuracy.MASE(one, one, one, 1)), forecast.ErrTooShort},
		{"no period", of(accuracy.MASE(one, one, two, 0)), forecast.ErrParameter},
		{"constant training", of(accuracy.MASE(one, one, []float64{3, 3}, 1)), forecast.ErrTooShort},
		{"quantile 0", of(accuracy.Pinball(one, one, 0)), forecast.ErrParameter},
		{"quantile NaN", of(accuracy.Pinball(one, one, nan)), forecast.ErrParameter},
		{"alpha 1", of(accuracy.Winkler(one, one, one, 1)), forecast.ErrParameter},
		{"WQL without levels", of(accuracy.WQL(one, nil, nil)), forecast.ErrParameter},
		{"WQL of too few rows", of(accuracy.WQL(one, [][]float64{one}, []float64{0.1, 0.9})), forecast.ErrParameter},
		{"WQL of zeros", of(accuracy.WQL([]float64{0, nan}, [][]float64{two}, []float64{0.5})), forecast.ErrTooShort},
		{"OWA against nothing", of(accuracy.OWA(accuracy.Score{MASE: 1, SMAPE: 1}, accuracy.Score{})), forecast.ErrParameter},
		{"three lengths", of(accuracy.Coverage(one, one, two)), forecast.ErrParameter},
	} {
		if !errors.Is(c.got.err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got.err, c.want)
		}
	}
}

// R 4.2.2, forecast 8.20: accuracy(snaive(window(AirPassengers, end = c(1958, 12)), h = 24), AirPassengers). The same
// figures stand in FOREWARM_DATA as accuracy_snaive_airp.
func TestAgainstR(t *testing.T) {
	s := classic.Series(t, "AirPassengers")
	train, actual := s.Slice(0, 120), s.Slice(120, 144).Values
	fitted, err := naive.Seasonal{Period: 12}.Fit(train)
	if err != nil {
		t.Fatal(err)
	}
	point := fitted.Forecast(24).Point
	for _, c := range []struct {
		name string
		got  measured
		want float64
	}{
		{"RMSE", of(accuracy.RMSE(actual, point)), 76.9945885544346},
		{"MAE", of(accuracy.MAE(actual, point)), 71.25},
		{"MASE", of(accuracy.MASE(actual, point, train.Values, 12)), 2.49351911860013},
	} {
		if c.got.err != nil || math.Abs(c.got.value-c.want) > 1e-12*c.want {
			t.Errorf("%s = %v, %v; want %v", c.name, c.got.value, c.got.err, c.want)
		}
	}
}

// The p-quantile of what came minimises the pinball loss.
func TestPinballIsMinimalAtTheQuantile(t *testing.T) {
	actual := make([]float64, 100)
	for i := range actual {
		actual[i] = float64(i)
	}
	best, at := math.Inf(1), 0.0
	for q := range 100 {
		quantile := make([]float64, len(actual))
		for i := range quantile {
			quantile[i] = float64(q)
		}
		loss, err := accuracy.Pinball(actual, quantile, 0.855)
		if err != nil {
			t.Fatal(err)
		}
		if loss < best {
			best, at = loss, float64(q)
		}
	}
	if at != 85 {
		t.Errorf("the best constant is %v, want 85", at)
	}
}

// A forecast of 12 where 10, 12 and nothing came, against the steps of 4 in the training series.
func ExampleMASE() {
	mase, err := accuracy.MASE([]float64{10, 12, math.NaN()}, []float64{12, 12, 12}, []float64{8, 12, 8, 12}, 1)
	fmt.Println(mase, err)
	// Output: 0.25 <nil>
}

// Missing the 90 % quantile from above costs nine times what missing it from below does.
func ExamplePinball() {
	above, err1 := accuracy.Pinball([]float64{15}, []float64{10}, 0.9)
	below, err2 := accuracy.Pinball([]float64{5}, []float64{10}, 0.9)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f %.1f\n", above, below)
	// Output: 4.5 0.5
}

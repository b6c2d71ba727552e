package decompose_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/decompose"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/testdata/classic"
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

func airPassengers(t *testing.T) []float64 {
	t.Helper()
	return classic.Series(t, "AirPassengers").Values
}

// The figures are those of R's package forecast 8.20: mstl(AirPassengers), and na.interp without five months.
func TestStrengthAndGapsOfAirPassengers(t *testing.T) {
	values := airPassengers(t)
	parts, err := decompose.MSTL{Periods: []int{12}}.Decompose(values)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "strength", []float64{parts.SeasonalStrength(0)}, []float64{0.940672490310218}, 1e-12)
	for _, i := range []int{19, 20, 21, 22, 76} {
		values[i] = math.NaN()
	}
	filled, err := decompose.Interpolate(values, 12)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "filled", append(filled[19:23:23], filled[76]), []float64{
		159.206028635845, 131.116648145401, 114.846281167268, 100.593042173522, 275.84274947601,
	}, 1e-9)
}

// A straight line with a season that never changes is that, but for what two iterations leave between trend and season.
func TestWhatIsThereIsFound(t *testing.T) {
	day, week := []float64{-3, 1, 2, 0}, []float64{5, 0, 0, 0, 0, 0, -5, 0, 0, 0, 0, 0}
	y := make([]float64, 96)
	for i := range y {
		y[i] = 100 + 0.5*float64(i) + day[i%4]
	}
	_, robust := decompose.Robust(y, 4, 7)
	agree(t, "robust", robust[40:44], day, 0.1)
	plain, err := decompose.MSTL{Periods: []int{4}}.Decompose(y)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, "season", plain.Seasons[0].Values[40:44], day, 0.1)
	agree(t, "remainder", plain.Remainder, make([]float64, len(y)), 0.1)
	for i := range y {
		y[i] += week[i%12]
	}
	got, err := decompose.MSTL{Periods: []int{12, 4, 12}}.Decompose(y)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Seasons) != 2 || got.Seasons[0].Period != 4 || got.Seasons[1].Period != 12 {
		t.Errorf("seasons %v, want those of 4 and 12", got.Seasons)
	}
	if s := got.SeasonalStrength(1); s < 0.98 {
		t.Errorf("the week's strength is %v", s)
	}
}

// One spike must not move a robust season.
func TestRobustIgnoresASpike(t *testing.T) {
	y := load(480)
	trend, season := decompose.Robust(y, 24, 11)
	y[200] = 1e6
	spikedTrend, spikedSeason := decompose.Robust(y, 24, 11)
	// The noise has a deviation of 20; what the spike's own value told is lost.
	agree(t, "season", spikedSeason, season, 10)
	agree(t, "trend", spikedTrend, trend, 10)
}

// The parts add up, scale and shift with the series, and a gap stays one in the remainder only.
func TestProperties(t *testing.T) {
	values := load(400)
	for _, i := range []int{0, 17, 18, 19, 200, 399} {
		values[i] = math.NaN()
	}
	moved := make([]float64, len(values))
	for i, v := range values {
		moved[i] = -1e-200 * (v + 4096)
	}
	d := decompose.MSTL{Periods: []int{24, 168}}
	one, err := d.Decompose(values)
	if err != nil {
		t.Fatal(err)
	}
	other, err := d.Decompose(moved)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		sum := one.Trend[i] + one.Seasons[0].Values[i] + one.Seasons[1].Values[i] + one.Remainder[i]
		if math.IsNaN(v) != math.IsNaN(sum) || math.Abs(sum-v) > 1e-9 {
			t.Fatalf("step %d: the parts of %v add up to %v", i, v, sum)
		}
		if got, want := other.Trend[i]*-1e200, one.Trend[i]+4096; math.Abs(got-want) > 1e-6 {
			t.Fatalf("step %d: moved trend %v, want %v", i, got, want)
		}
		if got, want := other.Seasons[1].Values[i]*-1e200, one.Seasons[1].Values[i]; math.Abs(got-want) > 1e-6 {
			t.Fatalf("step %d: moved season %v, want %v", i, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan := math.NaN()
	for name, tt := range map[string]struct {
		periods []int
		values  []float64
		want    error
	}{
		"a period of 1":                  {[]int{1}, load(47), forecast.ErrParameter},
		"no period":                      {nil, load(47), forecast.ErrParameter},
		"one step less than two seasons": {[]int{24}, load(47), forecast.ErrTooShort},
		"only gaps":                      {[]int{2}, []float64{nan, nan, nan, nan}, forecast.ErrTooShort},
		"infinite":                       {[]int{2}, []float64{1, 2, math.Inf(1), 4}, forecast.ErrNotFinite},
	} {
		if _, err := (decompose.MSTL{Periods: tt.periods}).Decompose(tt.values); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzDecompose(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(uint8(3), uint8(8), modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, one, other uint8, raw []byte) {
		values := modeltest.Values(raw)
		parts, err := decompose.MSTL{Periods: []int{int(one), int(other)}}.Decompose(values)
		if err != nil {
			return
		}
		for i, v := range values {
			if math.IsNaN(parts.Trend[i]) || math.IsNaN(parts.Remainder[i]) != math.IsNaN(v) {
				t.Fatalf("step %d of %v: trend %v, remainder %v", i, values, parts.Trend[i], parts.Remainder[i])
			}
		}
	})
}

package ensemble_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/ensemble"
	"github.com/forewarm/forewarm/forecast/modeltest"
)

var start = time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)

func hourly(values ...float64) forecast.Series {
	return forecast.Series{Start: start, Step: time.Hour, Values: values}
}

// requests are counts whose rate has a day of 24 steps and wanders.
func requests(n int, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, 4))
	out := make([]float64, n)
	drift := 0.0
	for i := range out {
		drift = 0.95*drift + 0.1*random.NormFloat64()
		rate := 100 * math.Exp(0.6*math.Sin(2*math.Pi*float64(i)/24)+drift)
		out[i] = math.Round(math.Max(0, rate+math.Sqrt(rate)*random.NormFloat64()))
	}
	return out
}

func estimate(t *testing.T, auto ensemble.Auto, values []float64) *ensemble.Fitted {
	t.Helper()
	fitted, err := auto.Estimate(hourly(values...))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// brief leaves out what would take the tests long, middling only SARIMA and its like.
const (
	brief    = 5 * time.Millisecond
	middling = 20 * time.Millisecond
)

func TestModel(t *testing.T) {
	modeltest.Test(t, ensemble.Auto{Budget: brief})
	modeltest.Test(t, ensemble.Auto{Seasons: []int{12}, Horizons: []int{1, 6, 24}, Budget: brief})
}

// With all candidates, those for short seasons and those for long ones, on the end of the worst of the hostile series.
func TestModelWithAllCandidates(t *testing.T) {
	hostile := modeltest.Hostile()
	const newest = 72
	for _, seasons := range [][]int{{4, 12}, {65}} {
		model := ensemble.Auto{Seasons: seasons, Horizons: []int{1, 12}, Budget: time.Second}
		for _, name := range []string{"zeros, then one", "a spike", "every third missing", "explosive", "1e-300"} {
			values := hostile[name]
			t.Run(name, func(t *testing.T) { modeltest.Check(t, model, values[len(values)-newest:]) })
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		model := ensemble.Auto{Seasons: []int{4}, Horizons: []int{1, 6}, Budget: time.Millisecond}
		modeltest.Check(t, model, modeltest.Values(raw))
	})
}

func TestErrors(t *testing.T) {
	gap := math.NaN()
	for name, tt := range map[string]struct {
		auto   ensemble.Auto
		values []float64
		want   error
	}{
		"nothing":                  {ensemble.Auto{}, nil, forecast.ErrTooShort},
		"gaps alone":               {ensemble.Auto{}, []float64{gap, gap, gap}, forecast.ErrTooShort},
		"infinite":                 {ensemble.Auto{}, []float64{1, math.Inf(1)}, forecast.ErrNotFinite},
		"a horizon below 0":        {ensemble.Auto{Horizon: -1}, []float64{1, 2}, forecast.ErrParameter},
		"horizons out of order":    {ensemble.Auto{Horizons: []int{5, 1}}, []float64{1, 2}, forecast.ErrParameter},
		"a season of one step":     {ensemble.Auto{Seasons: []int{1}}, []float64{1, 2}, forecast.ErrParameter},
		"seasons that descend":     {ensemble.Auto{Seasons: []int{168, 24}}, []float64{1, 2}, forecast.ErrParameter},
		"a quantile that is 1":     {ensemble.Auto{Quantiles: []float64{1}}, []float64{1, 2}, forecast.ErrParameter},
		"a budget below 0":         {ensemble.Auto{Budget: -1}, []float64{1, 2}, forecast.ErrParameter},
		"one value is a beginning": {ensemble.Auto{}, []float64{gap, 7}, nil},
	} {
		if _, err := tt.auto.Fit(hourly(tt.values...)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// A series that is too young for any model is forecast by what was seen.
func TestFewPoints(t *testing.T) {
	for n := 1; n <= 5; n++ {
		values := []float64{7, 7, 7, 7, 7}[:n]
		f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 3}, values).Forecast(3)
		if diff := cmp.Diff([]float64{7, 7, 7}, f.Point); diff != "" {
			t.Errorf("%d points (-want +got)\n%s", n, diff)
		}
	}
}

// Live values and replayed ones take the same way: what was fitted on a part and fed with the rest is, but for the
// members' parameters, what a longer life would have made; and two lives alike are alike to the bit.
func TestUpdateIsDeterministic(t *testing.T) {
	values := requests(400, 1)
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: brief}
	one, other := estimate(t, auto, values[:300]), estimate(t, auto, slices.Clone(values[:300]))
	for _, y := range values[300:] {
		one.Update(y)
		other.Update(y)
	}
	a, b := one.Forecast(20), other.Forecast(20)
	if diff := cmp.Diff(a.Point, b.Point); diff != "" {
		t.Errorf("points\n%s", diff)
	}
	if diff := cmp.Diff(a.Quantile(0.95), b.Quantile(0.95)); diff != "" {
		t.Errorf("quantiles\n%s", diff)
	}
	if want := start.Add(400 * time.Hour); !a.Start.Equal(want) {
		t.Errorf("starts at %s, want %s", a.Start, want)
	}
}

// A forecast that was given is not moved by what comes after it.
func TestForecastIsKept(t *testing.T) {
	values := requests(320, 2)
	f := estimate(t, ensemble.Auto{Seasons: []int{24}, Budget: brief}, values[:300])
	given := f.Forecast(15)
	before := given.Quantile(0.9)
	for _, y := range values[300:] {
		f.Update(10 * y)
	}
	if diff := cmp.Diff(before, given.Quantile(0.9)); diff != "" {
		t.Errorf("the quantiles moved\n%s", diff)
	}
}

func TestScaleEquivariance(t *testing.T) {
	values := requests(360, 3)
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: brief}
	one := estimate(t, auto, values)
	for _, factor := range []float64{1 << 20, 1.0 / (1 << 30)} {
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= factor
		}
		other := estimate(t, auto, scaled)
		a, b := one.Forecast(12), other.Forecast(12)
		for i := range a.Point {
			if got, want := b.Point[i]/factor, a.Point[i]; math.Abs(got-want) > 1e-6*want {
				t.Errorf("times %v: point %d is %v, want %v", factor, i, got, want)
			}
			if got, want := b.Quantile(0.95)[i]/factor, a.Quantile(0.95)[i]; math.Abs(got-want) > 1e-6*want {
				t.Errorf("times %v: 95 %% quantile %d is %v, want %v", factor, i, got, want)
			}
		}
	}
}

// A level far above 0 is only a level: the logarithms see another series then, but the forecast hardly does.
func TestNearShiftEquivariance(t *testing.T) {
	values := requests(360, 3)
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: middling}
	one := estimate(t, auto, values).Forecast(12)
	const shift = 1000
	shifted := slices.Clone(values)
	for i := range shifted {
		shifted[i] += shift
	}
	other := estimate(t, auto, shifted).Forecast(12)
	lower, upper := one.Quantile(0.1), one.Quantile(0.9)
	for i := range one.Point {
		if off := math.Abs(other.Point[i] - shift - one.Point[i]); off > 0.2*(upper[i]-lower[i]) {
			t.Errorf("point %d moves by %v, its 80 %% interval is %v to %v", i, off, lower[i], upper[i])
		}
	}
}

// The replay of the values held out is what live values would have made of the same beginning, to the bit.
func TestReplayIsUpdate(t *testing.T) {
	values := requests(400, 12)
	values[350] = math.NaN()
	auto := ensemble.Auto{Seasons: []int{24}, Horizon: 12, Budget: middling}
	replayed, err := auto.Replayed(hourly(values...), 250)
	if err != nil {
		t.Fatal(err)
	}
	updated, err := auto.Updated(hourly(values...), 250)
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateErrors()}
	if diff := cmp.Diff(replayed.Reasons(), updated.Reasons(), same); diff != "" {
		t.Errorf("reasons, replayed and updated\n%s", diff)
	}
	a, b := replayed.Forecast(12), updated.Forecast(12)
	if diff := cmp.Diff(a.Point, b.Point); diff != "" {
		t.Errorf("points\n%s", diff)
	}
	if diff := cmp.Diff(a.Quantile(0.95), b.Quantile(0.95)); diff != "" {
		t.Errorf("quantiles\n%s", diff)
	}
}

// Quantiles do not cross, young or old, whatever came.
func TestQuantilesNeverCross(t *testing.T) {
	hostile := modeltest.Hostile()
	hostile["requests"] = requests(300, 4)
	for name, values := range hostile {
		model := ensemble.Auto{Seasons: []int{12}, Horizon: 15, Budget: 10 * time.Millisecond}
		f, err := model.Estimate(hourly(values...))
		if err != nil {
			continue
		}
		for _, y := range []float64{3, math.NaN(), 1e9, 0, -5, 2} {
			f.Update(y)
			uncrossed(t, name, f)
		}
	}
}

func uncrossed(t *testing.T, name string, f *ensemble.Fitted) {
	t.Helper()
	low, high := make([]float64, 15), make([]float64, 15)
	f.QuantileTo(low, 0.005)
	for p := 0.05; p < 1; p += 0.05 {
		f.QuantileTo(high, p)
		for i := range low {
			if !(low[i] <= high[i]) {
				t.Fatalf("%s: step %d at %v: %v below %v", name, i+1, p, high[i], low[i])
			}
		}
		low, high = high, low
	}
}

// What is said to hold with 95 % does, live.
func TestCoverage(t *testing.T) {
	values := requests(3000, 5)
	f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 12}, values[:1000])
	upper := make([]float64, 12)
	within, n := 0, 0
	for i := 1000; i+12 <= len(values); i++ {
		f.QuantileTo(upper, 0.95)
		n++
		if values[i+11] <= upper[11] {
			within++
		}
		f.Update(values[i])
	}
	if share := float64(within) / float64(n); share < 0.93 || share > 0.97 {
		t.Errorf("%.3f within the 95 %% quantile twelve steps ahead", share)
	}
}

// The ensemble beats both of its naive members where there is a season and a level that wanders.
func TestBeatsItsMembers(t *testing.T) {
	values := requests(1500, 6)
	f := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 6}, values[:1000])
	points := make([]float64, 6)
	own, last, seasonal := 0.0, 0.0, 0.0
	for i := 1000; i+6 <= len(values); i++ {
		f.PointsTo(points)
		own += math.Abs(values[i+5] - points[5])
		last += math.Abs(values[i+5] - values[i-1])
		seasonal += math.Abs(values[i+5] - values[i-19])
		f.Update(values[i])
	}
	if own > 0.7*last || own > 0.8*seasonal {
		t.Errorf("mean errors: %.1f, last value %.1f, seasonal naive %.1f", own/500, last/500, seasonal/500)
	}
}

// Two days after a shift of the level the forecast is there, and on the way down nothing went below 0.
func TestLevelShift(t *testing.T) {
	values := requests(400, 7)
	f := estimate(t, ensemble.Auto{Horizon: 6, Budget: brief}, values)
	low := make([]float64, 6)
	for range 48 {
		f.Update(0)
		f.QuantileTo(low, 0.01)
		if lowest := slices.Min(low); lowest < 0 {
			t.Fatalf("a 1 %% quantile of %v", lowest)
		}
	}
	next := f.Forecast(6)
	for i := range low {
		if next.Point[i] < 0 || next.Point[i] > 5 {
			t.Errorf("step %d: %v, want 0 to 5", i+1, next.Point[i])
		}
	}
}

func TestReasons(t *testing.T) {
	auto := ensemble.Auto{
		Seasons: []int{24, 168}, Horizons: []int{1, 5}, Horizon: 12, Budget: 10 * time.Millisecond,
	}
	f := estimate(t, auto, requests(400, 8))
	r := f.Reasons()
	if want := []int{1, 5, 12}; !slices.Equal(r.Horizons, want) {
		t.Errorf("horizons %v, want %v", r.Horizons, want)
	}
	sums := make([]float64, len(r.Horizons))
	costly := 0
	for _, c := range r.Candidates {
		if c.TooCostly {
			costly++
			continue
		}
		for j, w := range c.Weight {
			sums[j] += w
		}
	}
	for j, sum := range sums {
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("the weights %d steps ahead sum to %v", r.Horizons[j], sum)
		}
	}
	if r.Candidates[0].Name != "Last value" || costly == 0 {
		t.Errorf("first %q, %d too costly; want the last value, and some", r.Candidates[0].Name, costly)
	}
}

// To a series with many gaps SARIMA alone is not fitted, and says so.
func TestGapsAreTooMuchForSARIMA(t *testing.T) {
	values := requests(120, 14)
	for i := 0; i < len(values); i += 4 {
		values[i] = math.NaN()
	}
	refused := 0
	for _, c := range estimate(t, ensemble.Auto{Seasons: []int{12}}, values).Reasons().Candidates {
		if c.Err == nil {
			continue
		}
		refused++
		if !strings.Contains(c.Err.Error(), "too many gaps") {
			t.Errorf("%s: %v", c.Name, c.Err)
		}
	}
	if refused != 2 {
		t.Errorf("%d candidates were not fitted, want the two of SARIMA", refused)
	}
}

// The hold-out chooses: at 48 horizons the last value and the seven that weighed most live on, with all of the weight
// between them.
func TestTheOutdoneAreTold(t *testing.T) {
	candidates := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 48}, requests(500, 12)).Reasons().Candidates
	var outdone int
	for i, c := range candidates {
		switch {
		case c.Outdone && i < 8:
			t.Errorf("%s at %d is outdone, want those that take part first", c.Name, i)
		case c.Outdone:
			outdone++
			if slices.Max(c.Weight) > 0 || math.IsNaN(c.Loss[0]) {
				t.Errorf("%s is outdone with weights %v and losses %v", c.Name, c.Weight, c.Loss)
			}
		}
	}
	if outdone != len(candidates)-8 || outdone == 0 {
		t.Errorf("%d outdone of %d, want all but eight", outdone, len(candidates))
	}
}

// The last value stays however small the budget is.
func TestSmallestBudget(t *testing.T) {
	r := estimate(t, ensemble.Auto{Budget: 1}, requests(400, 9)).Reasons()
	var taken []string
	for _, c := range r.Candidates {
		if !c.TooCostly {
			taken = append(taken, c.Name)
		}
	}
	if diff := cmp.Diff([]string{"Last value"}, taken); diff != "" {
		t.Errorf("members (-want +got)\n%s", diff)
	}
}

// Where the series is short even the dear ones take part.
func TestShortSeriesAffordAll(t *testing.T) {
	for _, seasons := range [][]int{nil, {12}, {4, 12}} {
		reasons := estimate(t, ensemble.Auto{Seasons: seasons}, requests(60, 10)).Reasons()
		for _, c := range reasons.Candidates {
			if c.TooCostly || c.Err != nil {
				t.Errorf("%s: too costly %v, %v", c.Name, c.TooCostly, c.Err)
			}
		}
	}
}

// The replay of a short series does not reach a horizon of two days; how the members did on the way there must serve,
// or the last value would stand for the second day.
func TestHorizonBeyondTheReplay(t *testing.T) {
	values := make([]float64, 96)
	for i := range values {
		values[i] = 100 + 50*math.Sin(2*math.Pi*float64(i)/24)
	}
	next := estimate(t, ensemble.Auto{Seasons: []int{24}, Horizon: 48}, values).Forecast(48)
	for i, point := range next.Point {
		if want := values[i%24]; math.Abs(point-want) > 5 {
			t.Errorf("step %d: %v, want %v", i+1, point, want)
		}
	}
}

func TestQuantilesWithoutAllocation(t *testing.T) {
	f := estimate(t, ensemble.Auto{Horizons: []int{1, 5, 15}, Budget: brief}, requests(400, 11))
	dst := make([]float64, 15)
	if n := testing.AllocsPerRun(100, func() {
		f.Update(100)
		f.QuantileTo(dst, 0.95)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

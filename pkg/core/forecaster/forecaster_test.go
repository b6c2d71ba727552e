package forecaster_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const step = 5 * time.Minute

var (
	start = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	gap   = math.NaN()
)

func config() forecaster.Config {
	return forecaster.Config{
		Step: step, Window: 15 * time.Minute,
		Settings: decide.Settings{Quantile: 0.95, Lead: 10 * time.Minute},
	}
}

// history is n steps of a demand.
func history(n int, load func(i int) float64) forecaster.History {
	s := forecast.Series{Start: start, Step: step, Values: make([]float64, n)}
	for i := range s.Values {
		s.Values[i] = load(i)
	}
	return forecaster.History{Series: s}
}

// plain is a reading without a doubt about it.
func plain(v float64) demand.Reading { return demand.Reading{Demand: v} }

func describe(f *forecaster.Forecaster) *snapshot.ForecastSnapshot {
	e := new(snapshot.ForecastSnapshot)
	f.Describe(e)
	return e
}

func candidate(t *testing.T, e *snapshot.ForecastSnapshot, name string) snapshot.Candidate {
	t.Helper()
	i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no candidate %s", name)
	}
	return e.Candidates[i]
}

// saw is a schedule with noise: a day's ramp that no free method but the season can see coming.
func saw(rng *rand.Rand) func(int) float64 {
	return func(i int) float64 {
		hour := float64(i%288) / 12
		return 100 + 300*math.Exp(-(hour-9)*(hour-9)/2) + 200*math.Exp(-(hour-15)*(hour-15)/0.5) + 8*rng.NormFloat64()
	}
}

func TestTheSeasonServesSeasonalDemand(t *testing.T) {
	var winters, season float64
	for seed := range uint64(5) {
		e := describe(forecaster.New(config(), history(14*288, saw(rand.New(rand.NewPCG(seed, 2))))))
		if !seasonal(e.Model) || e.Skill < 0.3 {
			t.Errorf("seed %d: skill %.3f: %s", seed, e.Skill, e.ModelReason())
		}
		winters += candidate(t, e, windowpeak.HoltWinters).Loss
		season += candidate(t, e, windowpeak.LastSeason).Loss
	}
	// Holt-Winters averages over days, yesterday alone carries its noise along.
	if winters > 0.95*season {
		t.Errorf("Holt-Winters loses %.3f in all, the same time last season %.3f", winters, season)
	}
}

func seasonal(model string) bool {
	return model == windowpeak.HoltWinters || model == windowpeak.LastSeason || model == windowpeak.Auto
}

// An objective is served by the regression, which learns from live steps, too; a quantile does not need it.
func TestObjectivesAreServedByTheRegression(t *testing.T) {
	c := config()
	c.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	c.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	load := saw(rand.New(rand.NewPCG(7, 8)))
	f := forecaster.New(c, history(8*288, load))
	before := describe(f)
	newest := before.Inputs[len(before.Inputs)-1].Peak
	if !(newest.Spread > 0) ||
		!strings.Contains(before.Decision.Reason(), " headroom for past forecast errors: ") {
		t.Errorf("%+v: %s", newest, before.Decision.Reason())
	}
	if o := before.Objective; o == nil || o.Verdict != objective.Met || o.Period != 7*24*time.Hour {
		t.Errorf("the objective is %+v", o)
	}
	if before.Model != before.Objective.Selection.Selected ||
		before.ModelReason() != before.Objective.Selection.Message() {
		t.Errorf("%s is said to serve (%s), and %s does", before.Model, before.ModelReason(),
			before.Objective.Selection.Selected)
	}
	if k := before.Decision.Headroom; k != before.Objective.HeadroomFor(c.Settings) || !(k > 0) {
		t.Errorf("headroom %v, and %v by the objective", k, before.Objective.HeadroomFor(c.Settings))
	}
	// Before the ramp of the morning more is expected than is there.
	for i := 8 * 288; i < 8*288+7*12; i++ {
		f.Step(plain(load(i)))
	}
	ramp := describe(f)
	if got := ramp.Inputs[len(ramp.Inputs)-1].Peak; got.Median < 1.02*ramp.Observed {
		t.Errorf("before the ramp the median is %v, of %v observed", got.Median, ramp.Observed)
	}
}

// A cost ratio is served by the same shape, and costs more headroom the more expensive late demand is.
func TestACostRatioIsServedByTheLearntShape(t *testing.T) {
	before := -1.0
	for _, ratio := range []float64{1, 1000} {
		c := config()
		c.Settings = decide.Settings{CostRatio: ratio, Target: 20, Lead: 10 * time.Minute}
		c.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(20)}}
		e := describe(forecaster.New(c, history(4*288, saw(rand.New(rand.NewPCG(7, 8))))))
		o := e.Objective
		if o == nil || o.Price != ratio || o.Late != 0 || e.Decision.Headroom != o.HeadroomFor(c.Settings) {
			t.Fatalf("at %v k = %v is served, the objective is %+v", ratio, e.Decision.Headroom, o)
		}
		if !(e.Decision.Headroom > before) {
			t.Errorf("at %v k = %v is served, at a lower ratio %v", ratio, e.Decision.Headroom, before)
		}
		before = e.Decision.Headroom
	}
}

// stock is an HPA without stabilization, with a target for each replica.
func stock(target float64) hpa.Spec {
	behavior := hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: hpa.DefaultScaleDown()}
	behavior.Down.Stabilization = 0
	return hpa.Spec{Min: 1, Max: 1000, Cluster: hpa.DefaultCluster(), Behavior: &behavior, Metrics: []hpa.Metric{{
		Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: int64(1000 * target),
	}}}
}

// On a random walk nothing beats the last value but by luck, and luck does not last.
func TestNoSkillOnARandomWalk(t *testing.T) {
	var served, last float64
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 4))
		level := 1000.0
		e := describe(forecaster.New(config(), history(10*288, func(int) float64 {
			level = math.Max(0, level+10*rng.NormFloat64())
			return level
		})))
		served += candidate(t, e, e.Model).Loss
		last += candidate(t, e, windowpeak.LastValue).Loss
	}
	if served < 0.9*last || served > last {
		t.Errorf("what serves loses %.1f on random walks, the last value %.1f", served, last)
	}
}

// The season breaks off: the model that lived by it must be demoted, and the served value must still cover.
func TestModelIsDemotedWhenItStopsEarning(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	f := forecaster.New(config(), history(14*288, saw(rng)))
	if e := describe(f); !seasonal(e.Model) {
		t.Fatalf("%s serves at first", e.Model)
	}
	level := 250.0
	for range 3 * 288 {
		level = math.Max(50, level+6*rng.NormFloat64())
		f.Step(plain(level))
	}
	e := describe(f)
	if seasonal(e.Model) {
		t.Errorf("after three days without a season %s still serves: %s", e.Model, e.ModelReason())
	}
}

// The promise of a quantile is its coverage, on every kind of demand.
func TestCoverage(t *testing.T) {
	kinds := map[string]func(*rand.Rand) func(int) float64{
		"schedule": saw,
		"counts": func(rng *rand.Rand) func(int) float64 {
			return func(i int) float64 {
				mean := 20 + 15*math.Sin(2*math.Pi*float64(i)/288)
				return math.Round(math.Max(0, mean+math.Sqrt(mean)*rng.NormFloat64()))
			}
		},
		"bursts": func(rng *rand.Rand) func(int) float64 {
			burst := 0.0
			return func(int) float64 {
				burst *= 0.8
				if rng.Float64() < 0.02 {
					burst += 200 * rng.ExpFloat64()
				}
				return 50 + burst + 3*rng.NormFloat64()
			}
		},
	}
	for name, kind := range kinds {
		for _, level := range []float64{0.8, 0.95} {
			c := config()
			c.Settings.Quantile, c.Settings.Mode = level, decide.Forecast // without the floor, which covers more
			load := kind(rand.New(rand.NewPCG(7, 8)))
			f := forecaster.New(c, history(7*288, load))
			values := make([]float64, 7*288)
			for i := range values {
				values[i] = load(i)
			}
			const window = 3
			within := 0
			for i, v := range values[:len(values)-window] {
				f.Step(plain(v))
				if slices.Max(values[i+1:i+1+window]) <= describe(f).Decision.Value {
					within++
				}
			}
			// A week holds some 670 windows that do not overlap: a standard error of about one or two points.
			got := float64(within) / float64(len(values)-window)
			if math.Abs(got-level) > 0.03 {
				t.Errorf("%s: the %.2f quantile covers %.3f", name, level, got)
			}
			if e := describe(f); math.Abs(e.Coverage-got) > 0.06 {
				t.Errorf("%s: reports a coverage of %.3f on the last days, was %.3f over all", name, e.Coverage, got)
			}
		}
	}
}

// The skill and the coverage of a Forecast are those of its selected candidate, also with an objective, which selects by cost.
func TestSkillAndCoverageOfTheSelected(t *testing.T) {
	late := config()
	late.Settings = decide.Settings{Late: 0.01, Target: 10, Lead: 10 * time.Minute}
	late.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: stock(10)}}
	for name, c := range map[string]forecaster.Config{"a quantile": config(), "an objective": late} {
		e := describe(forecaster.New(c, history(7*288, saw(rand.New(rand.NewPCG(1, 2))))))
		i := slices.IndexFunc(e.Candidates, func(c snapshot.Candidate) bool { return c.Name == e.Model })
		if i < 0 {
			t.Fatalf("%s: the selected %q is not a candidate", name, e.Model)
		}
		if c := e.Candidates[i]; e.Skill != c.Skill || e.Coverage != c.Coverage || !(e.Coverage > 0) {
			t.Errorf("%s: skill %v and coverage %v, of %s %v and %v", name, e.Skill, e.Coverage, c.Name, c.Skill,
				c.Coverage)
		}
	}
}

// Whatever comes, what is served is finite, not negative, not below the observed, and quantiles do not cross.
func TestOddHistories(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	odd := map[string]func(int) float64{
		"zeros":               func(int) float64 { return 0 },
		"constant":            func(int) float64 { return 7 },
		"gaps alone":          func(int) float64 { return gap },
		"tiny":                func(int) float64 { return 1e-300 * rng.Float64() },
		"huge":                func(int) float64 { return 1e14 * rng.Float64() },
		"a third is gaps":     func(int) float64 { return [3]float64{10 * rng.Float64(), 20, gap}[rng.IntN(3)] },
		"one sample, at last": func(i int) float64 { return [2]float64{gap, 5}[min(1, i/999)] },
		"a spike of 1e9":      func(i int) float64 { return [2]float64{10 + rng.Float64(), 1e9}[indicator(i == 700)] },
		"a shift of level":    func(i int) float64 { return 10 + rng.Float64() + 1000*float64(indicator(i > 600)) },
		"an outage":           func(i int) float64 { return [2]float64{10 + rng.Float64(), gap}[indicator(i > 500 && i < 800)] },
		"silence, then load":  func(i int) float64 { return float64(indicator(i > 900)) * 50 * rng.Float64() },
	}
	for name, load := range odd {
		for _, n := range []int{0, 1, 2, 5, 50, 1000} {
			f := forecaster.New(config(), history(n, load))
			for i := range 60 {
				f.Step(plain(load(n + i)))
				checkEntry(t, name, describe(f), f)
			}
		}
	}
}

func indicator(is bool) int {
	if is {
		return 1
	}
	return 0
}

func checkEntry(t *testing.T, name string, e *snapshot.ForecastSnapshot, f *forecaster.Forecaster) {
	t.Helper()
	if v := e.Decision.Value; f.Decided() && (math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v < e.Observed) {
		t.Fatalf("%s: serves %v on %v observed", name, v, e.Observed)
	}
	for _, c := range e.Candidates {
		for _, w := range c.Windows {
			q := w.Quantiles[:]
			if !slices.IsSorted(q) || q[0] < 0 ||
				slices.ContainsFunc(q, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Fatalf("%s: %s at %s: %v", name, c.Name, w.Horizon, q)
			}
		}
	}
	for _, p := range e.Path {
		if q := p.Quantiles; math.IsNaN(p.Point) || p.Point < 0 || q[0] > q[1] || q[1] > q[2] || math.IsInf(q[2], 0) {
			t.Fatalf("%s: path %+v", name, p)
		}
	}
}

// An outage must not teach the scores anything: windows that touch a gap are not known.
func TestGapsLeaveScoresAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	f := forecaster.New(config(), history(7*288, saw(rng)))
	before := candidate(t, describe(f), windowpeak.LastValue)
	for range 100 {
		f.Step(plain(gap))
	}
	after := candidate(t, describe(f), windowpeak.LastValue)
	if before.Loss != after.Loss || before.Coverage != after.Coverage {
		t.Errorf("loss %v became %v, coverage %v became %v over gaps alone", before.Loss, after.Loss, before.Coverage,
			after.Coverage)
	}
}

func TestRateIsObservedOverAMinute(t *testing.T) {
	c := config()
	c.Step, c.Window, c.Rate = 15*time.Second, time.Minute, true
	f := forecaster.New(c, forecaster.History{Series: forecast.Series{Start: start, Step: c.Step}})
	for _, sample := range []float64{100, 10, 20, 30, 40} {
		f.Step(plain(sample))
	}
	if got := describe(f).Observed; got != 25 {
		t.Errorf("observed %v, want the mean of the last four", got)
	}
	f.Step(plain(gap))
	if got := describe(f).Observed; got != 25 {
		t.Errorf("over a gap observed is %v, want what was known", got)
	}
}

func TestModelsThatMayServe(t *testing.T) {
	c := config()
	c.Models = []string{"ARIMA", "holt_winters"}
	e := describe(forecaster.New(c, history(4*288, saw(rand.New(rand.NewPCG(1, 2))))))
	var names []string
	for _, candidate := range e.Candidates {
		names = append(names, candidate.Name)
	}
	if title := candidate(t, e, windowpeak.ARIMA).Title; !strings.HasPrefix(title, "ARIMA(") {
		t.Errorf("an automatic model is called %q, want the order it chose", title)
	}
	want := []string{
		windowpeak.Regression, windowpeak.LastValue, windowpeak.RunningMax, windowpeak.LastSeason,
		windowpeak.LastWeek, windowpeak.HoltWinters, windowpeak.ARIMA,
	}
	if !slices.Equal(names, want) {
		t.Errorf("candidates %v, want %v", names, want)
	}
}

func TestTooShortForAModelIsItsReason(t *testing.T) {
	e := describe(forecaster.New(config(), history(200, saw(rand.New(rand.NewPCG(1, 2))))))
	if c := candidate(t, e, windowpeak.HoltWinters); !strings.Contains(c.Error, "too short") || len(c.Windows) > 0 {
		t.Errorf("Holt-Winters on 17 hours: %+v", c)
	}
	if e.Model == "" {
		t.Errorf("nothing serves on 17 hours: %s", e.ModelReason())
	}
}

func TestPastIsWhatWasServedAndWhatCame(t *testing.T) {
	f := forecaster.New(config(), history(3*288, func(i int) float64 { return float64(i) }))
	e := describe(f)
	open := 0
	for _, p := range e.Past {
		i := time.Unix(p.At, 0).Sub(start).Minutes() / 5
		switch {
		case math.IsNaN(p.Actual):
			open++
		case p.Actual != i+3:
			t.Fatalf("the window after step %v had its maximum at %v, want %v", i, p.Actual, i+3)
		}
	}
	if open != 3 || len(e.Past) < 100 {
		t.Errorf("%d of %d windows are open, want 3 of a day's", open, len(e.Past))
	}
	last := e.Recent.Values[len(e.Recent.Values)-1]
	if at := e.Recent.TimeAt(len(e.Recent.Values) - 1); last != 3*288-1 || !at.Equal(f.End().Add(-step)) {
		t.Errorf("the newest point of the recent past is %v at %s", last, at)
	}
}

func TestCanonical(t *testing.T) {
	for spelled, want := range map[string]string{
		"HoltWinters": "holt-winters", "holt_winters": "holt-winters", "ARIMA": "arima", "Last Value": "last-value",
	} {
		if got, ok := windowpeak.CanonicalName(spelled); !ok || got != want {
			t.Errorf("%s is %q, %v; want %q", spelled, got, ok, want)
		}
	}
	if got, ok := windowpeak.CanonicalName("prophet"); ok {
		t.Errorf("prophet is %q", got)
	}
}

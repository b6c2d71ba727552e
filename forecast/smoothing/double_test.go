package smoothing_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/smoothing"
)

var (
	_ forecast.Model  = smoothing.DoubleSeasonal{}
	_ forecast.Fitted = (*smoothing.FittedDouble)(nil)
)

// weekly draws a day of 6 within a week of 42, the last two days low, and a remainder that fades by 0.6 per step.
func weekly(seed uint64, n int) []float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	out, rest := make([]float64, n), 0.0
	for t := range out {
		rest = 0.6*rest + random.NormFloat64()
		out[t] = 100 + 10*math.Sin(2*math.Pi*float64(t%6)/6) + rest
		if t%42 >= 30 {
			out[t] -= 20
		}
	}
	return out
}

func fixedDouble() smoothing.DoubleSeasonal {
	return smoothing.DoubleSeasonal{
		Periods: [2]int{6, 42}, Alpha: new(0.1), Delta: new(0.2), Omega: new(0.15), Rho: new(0.5),
	}
}

// fixedDamped is fixedDouble with a trend.
func fixedDamped() smoothing.DoubleSeasonal {
	out := fixedDouble()
	out.Damped, out.Beta, out.Phi = true, new(0.05), new(0.9)
	return out
}

func estimateDouble(t *testing.T, m smoothing.DoubleSeasonal, values []float64) *smoothing.FittedDouble {
	t.Helper()
	fitted, err := m.Estimate(daily(values))
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// TestDoubleSeasonalSteps checks the states after a whole series against the equations of the model, written out.
func TestDoubleSeasonalSteps(t *testing.T) {
	values := weekly(1, 42*4)
	fitted := estimateDouble(t, fixedDamped(), values)
	level, trend, rest := fitted.Level(), fitted.Trend(), fitted.Remainder()
	short, long := fitted.Seasons()
	for i, y := range weekly(2, 100) {
		day, week := &short[i%6], &long[i%42]
		mean := level + 0.9*trend + *day + *week + 0.5*rest
		within(t, "point", fitted.Forecast(1).Point[0], mean, 1e-9)
		e := y - mean
		level += 0.9*trend + 0.1*e
		trend = 0.9*trend + 0.05*e
		*day += 0.2 * e
		*week += 0.15 * e
		rest = 0.5*rest + e
		fitted.Update(y)
	}
	for i, got := range fitted.Forecast(60).Point {
		at, h := 100+i, float64(i+1)
		want := level + trend*0.9*(1-math.Pow(0.9, h))/0.1 + short[at%6] + long[at%42] + math.Pow(0.5, h)*rest
		within(t, fmt.Sprintf("step %d", i+1), got, want, 1e-9)
	}
}

// TestDoubleSeasonalStandardErrors checks them against the paths of the model itself.
func TestDoubleSeasonalStandardErrors(t *testing.T) {
	values := weekly(3, 130)
	next := estimateDouble(t, fixedDamped(), values).Forecast(50)
	random := rand.New(rand.NewPCG(3, 3))
	const paths = 1200
	squares, point := make([]float64, len(next.Point)), make([]float64, 1)
	for range paths {
		path := estimateDouble(t, fixedDamped(), values)
		for i, mean := range next.Point {
			path.PointsTo(point)
			y := point[0] + next.StdErr[0]*random.NormFloat64()
			squares[i] += (y - mean) * (y - mean) / paths
			path.Update(y)
		}
	}
	for i, want := range squares {
		within(t, fmt.Sprintf("step %d", i+1), next.StdErr[i]/math.Sqrt(want), 1, 0.09)
	}
}

func TestDoubleSeasonalUpdateIsRefit(t *testing.T) {
	for _, share := range []float64{0, 0.3} {
		values := withGaps(weekly(4, 400), 4, share)
		model := fixedDamped()
		whole := estimateDouble(t, model, values)
		// The start is taken from the whole weeks of a series: it must be the same.
		stepped := estimateDouble(t, model, append(append([]float64(nil), values[:378]...), values[378:390]...))
		for _, y := range values[390:] {
			stepped.Update(y)
		}
		a, b := whole.Forecast(50), stepped.Forecast(50)
		if !a.Start.Equal(b.Start) {
			t.Errorf("starts %v and %v", a.Start, b.Start)
		}
		for i := range a.Point {
			within(t, "point", b.Point[i], a.Point[i], 1e-9)
			within(t, "growth", b.StdErr[i]/b.StdErr[0], a.StdErr[i]/a.StdErr[0], 1e-9)
		}
	}
}

func TestDoubleSeasonalOverAGap(t *testing.T) {
	fitted := estimateDouble(t, fixedDamped(), weekly(5, 200))
	before := fitted.Forecast(60)
	for range 5 {
		fitted.Update(math.NaN())
	}
	after := fitted.Forecast(55)
	for i := range after.Point {
		within(t, "point", after.Point[i], before.Point[i+5], 1e-9)
		within(t, "standard error", after.StdErr[i], before.StdErr[i+5], 1e-9)
	}
}

func TestDoubleSeasonalScale(t *testing.T) {
	values := weekly(6, 300)
	model := smoothing.DoubleSeasonal{Periods: [2]int{6, 42}}
	base := estimateDouble(t, model, values).Forecast(20)
	for _, exponent := range []int{-900, -3, 10, 480} {
		changed := make([]float64, len(values))
		for i, v := range values {
			changed[i] = math.Ldexp(v, exponent)
		}
		got := estimateDouble(t, model, changed).Forecast(20)
		for i := range base.Point {
			within(t, "point", math.Ldexp(got.Point[i], -exponent), base.Point[i], 1e-9)
			within(t, "standard error", math.Ldexp(got.StdErr[i], -exponent), base.StdErr[i], 1e-9)
		}
	}
}

// TestDoubleSeasonalKnowsTheWeek checks that the low days come where they belong, which one season of a day misses.
func TestDoubleSeasonalKnowsTheWeek(t *testing.T) {
	values := weekly(8, 378)
	fitted := estimateDouble(t, smoothing.DoubleSeasonal{Periods: [2]int{6, 42}}, values[:336])
	single := estimate(t, smoothing.HoltWinters{Period: 6, Trend: smoothing.NoTrend}, daily(values[:336]))
	double, day := 0.0, 0.0
	other := single.Forecast(42)
	for i, point := range fitted.Forecast(42).Point {
		double += math.Abs(point-values[336+i]) / 42
		day += math.Abs(other.Point[i]-values[336+i]) / 42
	}
	// The remainder has deviation 1.25, so its mean absolute value is 1.
	if double > 1.6 || day < 2*double {
		t.Errorf("mean absolute error %v, with the day alone %v", double, day)
	}
}

func TestBadDoubleSeasonal(t *testing.T) {
	s := daily(weekly(1, 100))
	for name, c := range map[string]struct {
		model smoothing.DoubleSeasonal
		want  error
	}{
		"no periods":       {smoothing.DoubleSeasonal{}, forecast.ErrParameter},
		"not a multiple":   {smoothing.DoubleSeasonal{Periods: [2]int{6, 40}}, forecast.ErrParameter},
		"the same twice":   {smoothing.DoubleSeasonal{Periods: [2]int{6, 6}}, forecast.ErrParameter},
		"alpha above 1":    {smoothing.DoubleSeasonal{Periods: [2]int{6, 42}, Alpha: new(1.5)}, forecast.ErrParameter},
		"rho of −1":        {smoothing.DoubleSeasonal{Periods: [2]int{6, 42}, Rho: new(-1.0)}, forecast.ErrParameter},
		"rho of 1":         {smoothing.DoubleSeasonal{Periods: [2]int{6, 42}, Rho: new(1.0)}, forecast.ErrParameter},
		"phi of 0":         {smoothing.DoubleSeasonal{Periods: [2]int{6, 42}, Phi: new(0.0)}, forecast.ErrParameter},
		"delta no number":  {smoothing.DoubleSeasonal{Periods: [2]int{6, 42}, Delta: new(math.NaN())}, forecast.ErrParameter},
		"less than 2 long": {smoothing.DoubleSeasonal{Periods: [2]int{6, 54}}, forecast.ErrTooShort},
	} {
		if _, err := c.model.Fit(s); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

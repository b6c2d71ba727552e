package windowpeak //nolint:testpackage // The regression is internal.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/forecast/quantreg"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/series"
)

const step = time.Minute

func config() Config {
	return Config{Step: step, Window: 6 * time.Minute, RegressionInputs: []string{}}
}

func naively(c Config) Prior {
	return NaivePrior(newFeatures(c).names())
}

// play gives the window after every value.
func play(c Config, values []float64) []Peak {
	l := newPooledRegression(c, naively(c))
	var out []Peak
	for i, v := range values {
		push(l, i, v, make([]float64, len(c.RegressionInputs)))
		out = append(out, l.forecast())
	}
	return out
}

// push pushes step i, and fits as often as it is worth.
func push(l *pooledRegression, i int, observed float64, models []float64) {
	if i%int(6*time.Hour/step) == 0 {
		l.fit()
	}
	l.observe(observed, models)
}

// days of minutes: a course of the day, and noise that makes clusters.
func days(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n*1440)
	noise := 0.0
	for i := range out {
		noise = 0.9*noise + rng.NormFloat64()
		out[i] = math.Max(0, 100+60*math.Sin(2*math.Pi*float64(i)/1440)+4*noise)
	}
	return out
}

// A demand twice as large has a shape twice as large, to the last bit: nothing in it knows the unit.
func TestScaleEquivariance(t *testing.T) {
	values := days(3, 5)
	for _, scale := range []float64{1.0 / 1024, 2, 1 << 40} {
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= scale
		}
		got := play(config(), scaled)
		for i, w := range play(config(), values) {
			if got[i].Median != scale*w.Median || got[i].Spread != scale*w.Spread {
				t.Fatalf("step %d times %v: %+v, want %v times %+v", i, scale, got[i], scale, w)
			}
		}
	}
}

// The future changes nothing.
func TestCausality(t *testing.T) {
	values := days(4, 6)
	other := slices.Clone(values)
	for i := 3 * 1440; i < len(other); i++ {
		other[i] = 1e6 * float64(i%7)
	}
	a, b := play(config(), values), play(config(), other)
	if !slices.Equal(a[:3*1440], b[:3*1440]) {
		t.Error("what comes on the fourth day changed the first three")
	}
}

// The two quantiles are those of what came: a half and a twentieth of the windows lie above them.
func TestCoverage(t *testing.T) {
	c, values := config(), days(10, 7)
	window := int(c.Window / c.Step)
	var below, within, n float64
	for i, w := range play(c, values) {
		if i < 4*1440 || i+window >= len(values) {
			continue
		}
		came := series.MaxKnown(values[i+1 : i+1+window]...)
		n++
		if came <= w.Median {
			below++
		}
		if came <= w.Median+w.Spread {
			within++
		}
	}
	if got := below / n; math.Abs(got-0.5) > 0.05 {
		t.Errorf("%.3f of the windows lie below the median", got)
	}
	if got := within / n; math.Abs(got-0.95) > 0.03 {
		t.Errorf("%.3f of the windows lie within the 95 %% quantile", got)
	}
}

// A batch on every hour is seen coming once it has come for a few days.
func TestLearnsASchedule(t *testing.T) {
	values := make([]float64, 8*1440)
	for i := range values {
		values[i] = 10
		if i%60 < 10 {
			values[i] = 50
		}
	}
	windows := play(config(), values)
	ahead, quiet := windows[7*1440+12*60-4], windows[7*1440+12*60-30]
	if ahead.Median < 40 {
		t.Errorf("four minutes before the batch the median is %v, want near 50", ahead.Median)
	}
	if quiet.Median > 20 {
		t.Errorf("half an hour before the batch the median is %v, want near 10", quiet.Median)
	}
}

// A model that knows what comes is believed.
func TestListensToModels(t *testing.T) {
	c := config()
	c.RegressionInputs = []string{"prophet"}
	window := int(c.Window / c.Step)
	rng := rand.New(rand.NewPCG(8, 9))
	values := make([]float64, 6*1440)
	for i := range values {
		values[i] = 20 + 80*float64(rng.IntN(2))
		if i%window > 0 {
			values[i] = values[i-1]
		}
	}
	l := newPooledRegression(c, naively(c))
	var wrong, last float64
	for i, v := range values[:len(values)-window] {
		came := series.MaxKnown(values[i+1 : i+1+window]...)
		push(l, i, v, []float64{came})
		if i > 4*1440 {
			wrong += math.Abs(l.forecast().Median - came)
			last += math.Abs(v - came)
		}
	}
	if wrong > 0.4*last {
		t.Errorf("the median errs by %.2f of what the last value does", wrong/last)
	}
}

// Whatever comes, the shape is finite and not negative, and its spread more than nothing where there is demand.
func TestHostileDemand(t *testing.T) {
	c := config()
	c.RegressionInputs = []string{"m"}
	for name, values := range modeltest.Hostile() {
		sane(t, name, c, values)
	}
}

func sane(t *testing.T, name string, c Config, values []float64) {
	t.Helper()
	l := newPooledRegression(c, naively(c))
	for i, v := range slices.Repeat(values, 1+2000/max(len(values), 1)) {
		v = math.Max(v, 0) // Demand is never negative; the refresh loop sees to it.
		if v > 1e100 {
			v = 1e100
		}
		push(l, i, v, []float64{-v})
		w := l.forecast()
		if !(w.Median >= 0) || !(w.Spread >= 0) || math.IsInf(w.Median+w.Spread, 0) {
			t.Fatalf("%s: %+v at step %d after %v", name, w, i, v)
		}
	}
}

func FuzzLearner(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	c := config()
	c.RegressionInputs = []string{"m"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if values := modeltest.Values(raw); len(values) <= 500 {
			sane(t, "fuzz", c, values)
		}
	})
}

// A gap is coasted over: the shape stays, and no window that it touches is learnt from.
func TestGaps(t *testing.T) {
	c, values := config(), days(3, 10)
	l := newPooledRegression(c, naively(c))
	for _, v := range values {
		l.observe(v, nil)
	}
	before, rows := l.forecast(), l.rows.n
	for range 30 {
		l.observe(math.NaN(), nil)
	}
	// The running maxima age on over a gap; everything else stays.
	if after := l.forecast(); math.Abs(after.Median-before.Median) > 0.1*before.Median {
		t.Errorf("%+v after a gap, %+v before it", after, before)
	}
	if got := l.rows.n; got > rows {
		t.Errorf("%d rows after a gap, %d before it", got, rows)
	}
}

func TestPriorFor(t *testing.T) {
	prior := Prior{Columns: []string{"now", "volatility"}}
	prior.Median = quantreg.Prior{Mean: []float64{1, 2}, Precision: []float64{4, 5, 5, 6}}
	prior.Upper = quantreg.Prior{Mean: []float64{3, 4}, Precision: []float64{7, 8, 8, 9}}
	got := prior.forColumns([]string{"volatility", "new", "now"})
	want := "[2 0 1] [6 0 5 0 4 0 5 0 4] [4 0 3] [9 0 8 0 7 0 8 0 7]"
	if text := fmt.Sprint(got.Median.Mean, got.Median.Precision, got.Upper.Mean, got.Upper.Precision); text != want {
		t.Errorf("%s, want %s", text, want)
	}
}

// What is shipped is read for any window, in the columns of the features, and says that demand stays near what it is.
func TestShipped(t *testing.T) {
	for _, window := range []time.Duration{time.Second, 195 * time.Second, 375 * time.Second, 5 * time.Hour} {
		prior, err := BuiltinPrior(window)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Step: step, Window: max(window, step), RegressionInputs: []string{}}
		l := newPooledRegression(c, prior)
		for range 3000 {
			l.observe(100, nil)
		}
		if w := l.forecast(); !(w.Median > 90 && w.Median < 130 && w.Spread < 30) {
			t.Errorf("window %s: %+v after 50 hours of 100", window, w)
		}
	}
}

// A prior comes back as it was written, to five digits.
func TestPriorIsWritten(t *testing.T) {
	shipped, err := BuiltinPrior(375 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var one, two strings.Builder
	if err = shipped.Write(&one, 375*time.Second); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("priors/lead-5m0s.json")
	if err != nil {
		t.Fatal(err)
	}
	two.Write(text)
	if one.String() != two.String() {
		t.Errorf("written\n%s, read\n%s", one.String(), two.String())
	}
}

// A prior from others serves a newcomer from its first step: it has learnt what the naive one has not.
func TestPoolHelpsANewcomer(t *testing.T) {
	c := config()
	c.Models, c.Prior = []string{}, naively(c)
	set, err := NewCandidateSet(c)
	if err != nil {
		t.Fatal(err)
	}
	collector := NewCollector(set, 5)
	for _, v := range days(6, 11) {
		collector.Step(demand.Sample{Observed: v, Value: v})
	}
	pooled, err := FitPrior(config().RegressionColumns(), collector.Rows)
	if err != nil {
		t.Fatal(err)
	}
	newcomer := days(1, 12)[:600]
	loss := func(prior Prior) float64 {
		l, sum, window := newPooledRegression(c, prior), 0.0, int(c.Window/c.Step)
		for i, v := range newcomer[:len(newcomer)-window] {
			push(l, i, v, nil)
			w, came := l.forecast(), series.MaxKnown(newcomer[i+1:i+1+window]...)
			sum += math.Abs(came-w.Median) + pinball(0.95, came, w.Median+w.Spread)
		}
		return sum
	}
	if with, without := loss(pooled), loss(naively(c)); with > 0.9*without {
		t.Errorf("a newcomer loses %.1f with what others have shown, %.1f without", with, without)
	}
}

// A step of a workload that is known for a week: the decision's share in a refresh.
func BenchmarkPush(b *testing.B) {
	c, values := config(), days(8, 13)
	l := newPooledRegression(c, naively(c))
	for _, v := range values {
		l.observe(v, nil)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		push(l, i, values[i%len(values)], nil)
		l.forecast()
		i++
	}
}

// A long window drops a block at a time: never earlier than the window less a block, nor later than the window and a
// block.
func TestCoarseMaxima(t *testing.T) {
	const window, block = 1440, 5
	values := make([]float64, 4000)
	values[100] = 7
	highest := newCoarseMax(window)
	for i, value := range values {
		v, age := highest.push(value), i-100
		switch {
		case age >= 0 && age < window-block && v != 7:
			t.Fatalf("%v after %d steps, want it remembered", v, age)
		case age > window+block && v != 0:
			t.Fatalf("%v after %d steps, want it forgotten", v, age)
		}
	}
}

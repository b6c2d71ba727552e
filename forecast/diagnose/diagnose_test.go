package diagnose_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast/diagnose"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/testdata/classic"
)

// A random walk wants one difference; its steps are independent.
func ExampleDifferences() {
	random := rand.New(rand.NewPCG(1, 2))
	walk := make([]float64, 200)
	for i := 1; i < len(walk); i++ {
		walk[i] = walk[i-1] + random.NormFloat64()
	}
	fmt.Println(diagnose.Differences(walk, 2))
	// Output: 1
}

// A sine of 12 steps correlates with itself half a season on as much as it can, the other way round. What is not there
// to be summed counts as none: at lag 6 a quarter of the pairs of 24 steps is missing.
func ExampleACF() {
	wave := make([]float64, 24)
	for i := range wave {
		wave[i] = math.Sin(2 * math.Pi * float64(i) / 12)
	}
	acf := diagnose.ACF(wave, 12)
	fmt.Printf("%.2f %.2f %.2f\n", acf[0], acf[6], acf[12])
	// Output: 1.00 -0.75 0.50
}

func classicValues(t *testing.T, name string) []float64 {
	t.Helper()
	s, err := classic.Series(name)
	if err != nil {
		t.Fatal(err)
	}
	return s.Values
}

func TestClassicDifferences(t *testing.T) {
	r, err := classic.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range r.KPSS {
		values := classicValues(t, want.Series)
		statistic, critical := diagnose.KPSS(values, diagnose.Level)
		within(t, want.Series+" KPSS", statistic, want.Statistic, 1e-9)
		within(t, want.Series+" critical value", critical, 0.463, 0)
		if got := diagnose.Differences(values, 2); got != want.Differences {
			t.Errorf("%s: %d differences, R %d", want.Series, got, want.Differences)
		}
	}
	if got := diagnose.SeasonalDifferences(classicValues(t, "AirPassengers"), 12); got != 1 {
		t.Errorf("AirPassengers: %d seasonal differences, R 1", got)
	}
}

// The figures are those of R 4.2.2: acf and pacf.
func TestLakeHuronCorrelation(t *testing.T) {
	lake := classicValues(t, "LakeHuron")
	acf, pacf := diagnose.ACF(lake, 3), diagnose.PACF(lake, 3)
	for i, want := range []float64{0.831911210352453, 0.609937103589568, 0.45825060533829} {
		within(t, "ACF", acf[i+1], want, 1e-12)
	}
	for i, want := range []float64{0.831911210352452, -0.26675162762713, 0.130754133537935} {
		within(t, "PACF", pacf[i], want, 1e-12)
	}
}

// Long sums go by way of the periodogram; the dumb sums must agree.
func TestACFAgainstSums(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	y := make([]float64, 3000)
	mean, n := 0.0, 0.0
	for i := range y {
		y[i] = 100 + random.NormFloat64() + 3*math.Sin(float64(i))
		if i%7 == 3 {
			y[i] = math.NaN()
			continue
		}
		n++
		mean += (y[i] - mean) / n
	}
	sum := func(lag int) (sum float64) {
		for i := lag; i < len(y); i++ {
			if p := (y[i] - mean) * (y[i-lag] - mean); !math.IsNaN(p) {
				sum += p
			}
		}
		return sum
	}
	acf := diagnose.ACF(y, 2999)
	for lag := 0; lag < len(acf); lag += 113 {
		within(t, fmt.Sprintf("lag %d", lag), acf[lag], sum(lag)/sum(0), 1e-10)
	}
}

// The partial autocorrelation at a lag is the last coefficient of the autoregression of that order.
func TestPACFOfAnAutoregression(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	y := make([]float64, 20000)
	for i := 2; i < len(y); i++ {
		y[i] = 0.5*y[i-1] + 0.3*y[i-2] + random.NormFloat64()
	}
	pacf := diagnose.PACF(y, 4)
	// φ₁/(1−φ₂) and φ₂, then nothing; 20,000 values leave a standard deviation of 0.007.
	for i, want := range []float64{0.5 / 0.7, 0.3, 0, 0} {
		within(t, fmt.Sprintf("lag %d", i+1), pacf[i], want, 0.03)
	}
}

// A scale or a shift of the values changes nothing.
func TestInvariance(t *testing.T) {
	values := classicValues(t, "AirPassengers")
	moved := make([]float64, len(values))
	for i, v := range values {
		moved[i] = 3e-200 * (v - 1000)
	}
	one, _ := diagnose.KPSS(values, diagnose.Line)
	other, _ := diagnose.KPSS(moved, diagnose.Line)
	within(t, "KPSS", other, one, 1e-9)
	within(t, "Ljung-Box", diagnose.LjungBox(moved, 5), diagnose.LjungBox(values, 5), 1e-6)
	if got := diagnose.SeasonalDifferences(moved, 12); got != 1 {
		t.Errorf("%d seasonal differences, want 1", got)
	}
}

func TestHostileValues(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		finite(t, name, values)
	}
}

func FuzzDiagnose(f *testing.F) {
	for _, values := range modeltest.Hostile() {
		f.Add(modeltest.Fuzz(values))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { finite(t, "fuzzed", modeltest.Values(raw)) })
}

// finite fails on a figure that is none, or that lies out of its range.
func finite(t *testing.T, name string, values []float64) {
	t.Helper()
	for _, around := range []diagnose.Around{diagnose.Level, diagnose.Line} {
		if got, _ := diagnose.KPSS(values, around); !(got >= 0) || math.IsInf(got, 0) {
			t.Errorf("%s: KPSS %v", name, got)
		}
	}
	for _, r := range append(diagnose.ACF(values, 130), diagnose.PACF(values, 130)...) {
		if !(math.Abs(r) <= 1+1e-6) {
			t.Errorf("%s: correlation %v", name, r)
		}
	}
	if got := diagnose.Differences(values, 2); got < 0 || got > 2 {
		t.Errorf("%s: %d differences", name, got)
	}
	for _, step := range []time.Duration{0, 5 * time.Minute, 4 * time.Hour} {
		for _, p := range diagnose.Periods(values, step) {
			if p.Length < 2 || 3*p.Length > len(values) || !(p.Strength >= 0 && p.Strength <= 1) {
				t.Errorf("%s: period %v of %d values", name, p, len(values))
			}
		}
	}
	if got := diagnose.SeasonalDifferences(values, 7); got < 0 || got > 1 {
		t.Errorf("%s: %d seasonal differences", name, got)
	}
}

package demand_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

const filterStep = 30 * time.Second

// config has a corroboration time of two minutes and a lead window of six.
func config() demand.FilterConfig {
	return demand.FilterConfig{
		Step:          filterStep,
		Corroboration: demand.Corroboration(0, filterStep),
		Windows:       []int{1, 12, 120},
		Lead:          1,
	}
}

// passed writes what passes at each step: the demand, with a ! where it is a suspect and a ? where it is a dip, and … where nothing passes.
func passed(f *demand.Filter, load ...float64) string {
	var out []string
	for _, v := range load {
		var passed []string
		for _, s := range f.Step(demand.Reading{Demand: v}) {
			word := fmt.Sprint(s.Demand)
			if s.Suspect {
				word += "!"
			}
			if s.Dip {
				word += "?"
			}
			passed = append(passed, word)
		}
		if passed == nil {
			passed = []string{"…"}
		}
		out = append(out, strings.Join(passed, "+"))
	}
	return strings.Join(out, " ")
}

// filterAfterAnHour is a filter after an hour of a constant demand.
func filterAfterAnHour(c demand.FilterConfig, v float64) *demand.Filter {
	f := demand.NewFilter(c)
	for range int(time.Hour / c.Step) {
		f.Step(demand.Reading{Demand: v})
	}
	return f
}

func TestASuspectWaits(t *testing.T) {
	for name, c := range map[string]struct {
		demand []float64
		want   string
	}{
		"an ordinary sample passes at once":            {[]float64{101, 140}, "101 140"},
		"one bad sample is a suspect":                  {[]float64{1000, 100}, "… 1000!+100"},
		"what lasts two minutes passes as it is":       {[]float64{900, 900, 950, 900, 900}, "… … … … 900+900+950+900+900"},
		"what ends sooner is a suspect":                {[]float64{900, 900, 900, 900, 100}, "… … … … 900!+900!+900!+900!+100"},
		"only the level that lasts is believed":        {[]float64{1e9, 900, 900, 900, 900, 900}, "… … … … 1e+09!+900+900+900+900 900"},
		"a rise within half of the base is no news":    {[]float64{150, 150}, "150 150"},
		"a gap within waits too":                       {[]float64{900, gap, 100}, "… … 900!+NaN+100"},
		"a long gap ends the wait":                     {[]float64{900, gap, gap, gap, gap, gap}, "… … … … … 900!+NaN+NaN+NaN+NaN+NaN"},
		"a gap is no corroboration":                    {[]float64{900, gap, gap, gap, 900, 100}, "… … … … … 900!+NaN+NaN+NaN+900!+100"},
		"a sudden low waits":                           {[]float64{1}, "…"},
		"a dip is none of the demand's":                {[]float64{0, 0, 100}, "… … 0?+0?+100"},
		"a low counts as a gap for a high before it":   {[]float64{900, 1, 100}, "… … 900!+1?+100"},
		"a high after a low":                           {[]float64{1, 900, 100}, "… 1? 900!+100"},
		"what is believed is not doubted a time later": {[]float64{900, 900, 900, 900, 900, 100, 900}, "… … … … 900+900+900+900+900 100 900"},
	} {
		if got := passed(filterAfterAnHour(config(), 100), c.demand...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// A level that is reached a third time, each more than the corroboration time after the other, is credible from then
// on.
func TestTheThirdTimeIsBelieved(t *testing.T) {
	f := filterAfterAnHour(config(), 100)
	calm := []float64{100, 100, 100, 100, 100}
	if got := passed(f, append([]float64{1000}, calm...)...); !strings.Contains(got, "1000!") {
		t.Errorf("the first time: %s", got)
	}
	if got := passed(f, append([]float64{1000}, calm...)...); !strings.Contains(got, "1000!") {
		t.Errorf("the second time: %s", got)
	}
	if got := passed(f, 1000, 100); got != "1000 100" {
		t.Errorf("the third time: %s", got)
	}
	if got := f.Bound().Base; got != 1000 {
		t.Errorf("the base is %v", got)
	}
}

// The result of rate() after one bad scrape lasts for its range, and must not corroborate itself.
func TestOneBadScrapeDoesNotCorroborateItself(t *testing.T) {
	for _, reach := range []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute} {
		c := config()
		c.Corroboration = demand.Corroboration(reach, filterStep)
		f := filterAfterAnHour(c, 100)
		for range int(reach/filterStep) + 1 {
			f.Step(demand.Reading{Demand: 100_000})
		}
		f.Step(demand.Reading{Demand: 100})
		if got := f.Bound(); got.Base != 100 || got.Limit(1).Forecast > 200 {
			t.Errorf("a range of %s: base %v, limit %+v", reach, got.Base, got.Limit(1))
		}
	}
}

func TestCorroboration(t *testing.T) {
	for _, c := range []struct{ reach, step, want time.Duration }{
		{0, 30 * time.Second, 2 * time.Minute},
		{0, time.Second, 2 * time.Minute},
		{0, 5 * time.Minute, 10 * time.Minute},
		{5 * time.Minute, 30 * time.Second, 7 * time.Minute},
	} {
		if got := demand.Corroboration(c.reach, c.step); got != c.want {
			t.Errorf("a range of %s, a step of %s: %s, want %s", c.reach, c.step, got, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	const lead = 1
	repeat := func(f *demand.Filter, n int, v float64) {
		for range n {
			f.Step(demand.Reading{Demand: v})
		}
	}
	f := filterAfterAnHour(config(), 100)
	if got := f.Bound().Limit(lead); got != (demand.Limit{Known: true, Forecast: 190, Observed: 190, Base: 100}) {
		t.Errorf("100 for an hour: %+v, want nine tenths above it", got)
	}
	repeat(f, 20, 140)
	if got := f.Bound().Limit(lead).Forecast; got != 306 {
		t.Errorf("risen by 40 to 140: %v, want 140, nine tenths of it and the 40", got)
	}
	repeat(f, 30, 40) // The first ten minutes of it wait.
	repeat(f, 20, 140)
	if got := f.Bound().Limit(lead).Forecast; got != 350 {
		t.Errorf("risen by 100 to 140: %v, want two and a half times of it, the most there is", got)
	}
}

// A burst that was seen once justifies nothing from a lead window after its end. A burst that was seen twice stays.
func TestWhatCameOnceIsOver(t *testing.T) {
	const lead = 1
	f := filterAfterAnHour(config(), 100)
	burst := func() {
		for range 10 {
			f.Step(demand.Reading{Demand: 5000})
		}
	}
	calm := func(d time.Duration) float64 {
		for range int(d / filterStep) {
			f.Step(demand.Reading{Demand: 100})
		}
		return f.Bound().Limit(lead).Forecast
	}
	burst()
	if got := f.Bound().Limit(lead).Forecast; got != 9500 {
		t.Errorf("in the burst %v may be forecast, want 1.9 times the level: a launch is no growth", got)
	}
	if got := calm(4 * time.Minute); got < 5000 {
		t.Errorf("within a lead window of its end %v, want its own height at least", got)
	}
	if got := calm(demand.FallLearnt); got != 190 {
		t.Errorf("when its end is learnt, a lead window after it, %v, want 1.9 times the calm", got)
	}
	burst()
	if got := calm(12 * time.Hour); got < 5000 {
		t.Errorf("after the second time %v, want 5000 at least", got)
	}
	if got := f.Bound().Limit(lead); got.Observed < 5000 || got.Base != 5000 {
		t.Errorf("what is observed counts for %+v", got)
	}
}

// From zero, and from less than one replica, history has no scale: the observed demand counts as it is, and nothing is
// learnt from it before it has lasted.
func TestFromZeroTheObservedCounts(t *testing.T) {
	for _, c := range []struct{ before, replica, want float64 }{
		{0, 0, 1e6}, {0, 100, 1e6}, {50, 100, 1e6}, {50, 0, 95}, {150, 100, 285},
	} {
		config := config()
		config.Replica = c.replica
		f := filterAfterAnHour(config, c.before)
		if got := len(f.Step(demand.Reading{Demand: 1e6})); got != 0 {
			t.Errorf("from %v: a leap passes at once", c.before)
		}
		if got := f.Bound().Limit(1).CapObserved(1e6); got != c.want {
			t.Errorf("from %v with a replica of %v, a million counts for %v, want %v", c.before, c.replica, got, c.want)
		}
		for range 4 {
			f.Step(demand.Reading{Demand: 1e6})
		}
		if got := f.Bound().Limit(1).Forecast; got < 1.5e6 || got > 2e6 {
			t.Errorf("from %v: once it has lasted, %v may be forecast, want at most twice of it", c.before, got)
		}
	}
}

func TestTheZeroLimitLimitsNothing(t *testing.T) {
	limit := demand.Bound{}.Limit(3)
	if v, was := limit.CapForecast(1e300); v != 1e300 || was || limit.CapObserved(1e300) != 1e300 {
		t.Errorf("%v, %v", v, was)
	}
}

// plainBase computes the base from its definition: the highest level that all samples of a corroboration time had, or
// that was reached at three separate times.
func plainBase(load []float64, span int) float64 {
	base := 0.0
	for end := range load {
		lowest, known := math.Inf(1), 0
		for i := end; i >= 0 && known <= span; i-- {
			if !math.IsNaN(load[i]) {
				lowest = math.Min(lowest, load[i])
				known++
			}
		}
		if known > span {
			base = math.Max(base, lowest)
		}
	}
	for _, level := range load {
		times, last := 0, math.MinInt/2
		for i, v := range load {
			if v >= level && i-last > span {
				times, last = times+1, i
			}
		}
		if times >= 3 {
			base = math.Max(base, level)
		}
	}
	return base
}

// FuzzFilter checks the filter's invariants on any demand.
func FuzzFilter(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(leapingDemand(seed), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, raw []byte, replica bool) {
		load := decode(raw)
		c := config()
		if replica {
			c.Replica = 50
		}
		span := int(c.Corroboration / c.Step)
		filter := demand.NewFilter(c)
		var passed []float64
		for i, v := range load {
			for _, s := range filter.Step(demand.Reading{Demand: v}) {
				passed = append(passed, s.Demand)
			}
			low, _ := filter.Fallen()
			if waiting := len(filter.Waiting()); waiting > 2*span+1 || len(low) > int(demand.FallLearnt/c.Step) ||
				waiting+len(low)+len(passed) != i+1 {
				t.Fatalf("step %d: %d and %d lows wait, %d have passed", i, waiting, len(low), len(passed))
			}
			checkBound(t, filter.Bound(), load[:i+1], span)
		}
		for i := range passed {
			if passed[i] != load[i] && !(math.IsNaN(passed[i]) && math.IsNaN(load[i])) {
				t.Fatalf("sample %d passed as %v, was %v", i, passed[i], load[i])
			}
		}
		if !replica {
			checkScaling(t, load)
		}
	})
}

// checkBound checks a bound against the plain base of a demand.
func checkBound(t *testing.T, b demand.Bound, load []float64, span int) {
	t.Helper()
	most := 2.5 * plainBase(load, span)
	for i := range config().Windows {
		if l := b.Limit(i); !(l.Forecast >= 0 && l.Forecast <= most*(1+1e-12)) {
			t.Fatalf("window %d: %v may be forecast of %v, want %v at most", i, l.Forecast, load, most)
		}
	}
	if !math.IsInf(b.MaxObserved, 1) && !(b.MaxObserved <= most*(1+1e-12)) {
		t.Fatalf("%v counts of what is observed of %v, want %v at most", b.MaxObserved, load, most)
	}
}

// checkScaling: four times the demand has four times the bound, and the same suspects.
func checkScaling(t *testing.T, load []float64) {
	t.Helper()
	one, four := demand.NewFilter(config()), demand.NewFilter(config())
	for i, v := range load {
		a, b := slices.Clone(one.Step(demand.Reading{Demand: v})), four.Step(demand.Reading{Demand: 4 * v})
		if len(a) != len(b) {
			t.Fatalf("step %d: %d pass, of the fourfold %d", i, len(a), len(b))
		}
		for j := range a {
			if a[j].Suspect != b[j].Suspect || 4*a[j].Bound.Limit(1).Forecast != b[j].Bound.Limit(1).Forecast {
				t.Fatalf("step %d: %s", i, cmp.Diff(a[j], b[j]))
			}
		}
	}
}

// decode reads a demand: a byte is a level, or a factor, or a gap.
func decode(raw []byte) []float64 {
	raw = raw[:min(len(raw), 200)]
	out := make([]float64, len(raw))
	for i, b := range raw {
		switch {
		case b == 0xff:
			out[i] = math.NaN()
		case b >= 0xe0:
			out[i] = math.Pow(10, float64(b-0xe0)/2) // up to 10¹⁵
		default:
			out[i] = float64(b)
		}
	}
	return out
}

// leapingDemand is a calm demand with jumps of any length.
func leapingDemand(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := make([]byte, 150)
	level, left := byte(rng.IntN(100)), 0
	for i := range out {
		left--
		if left <= 0 {
			level, left = byte(rng.IntN(100)), 1+rng.IntN(30)
			if rng.IntN(3) == 0 {
				level, left = byte(0xe0+rng.IntN(32)), 1+rng.IntN(8)
			}
		}
		out[i] = level
	}
	return out
}

package objective_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

const (
	step = time.Minute
	lead = 5 * time.Minute
	day  = 24 * 60 // steps
)

// autoscaler is a stock HPA without a hold, whose replicas sustain 10 each.
func autoscaler(most int32) objective.Autoscaler {
	down := hpa.DefaultScaleDown()
	down.Stabilization = 0
	return objective.Autoscaler{Name: "spec.scaling", Spec: sim.Spec{
		Capacity: 10, PodLead: sim.Constant(lead), PassDeadBand: true,
		HPA: hpa.Spec{
			Min: 1, Max: most, Cluster: hpa.DefaultCluster(),
			Metrics:  []hpa.Metric{{Name: "demand", Source: hpa.External, Type: hpa.AverageValue, Target: 10_000}},
			Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
		},
	}}
}

// peaks says how the window peak is forecast, by few models: they are quick to fit.
func peaks(t *testing.T) windowpeak.Config {
	t.Helper()
	out := windowpeak.Config{Step: step, Window: lead + 75*time.Second, Models: []string{windowpeak.ARIMA}}
	var err error
	if out.Prior, err = windowpeak.BuiltinPrior(out.Window); err != nil {
		t.Fatal(err)
	}
	return out
}

func config(t *testing.T, late float64) objective.Config {
	t.Helper()
	margins, err := objective.BuiltinPriors(lead)
	if err != nil {
		t.Fatal(err)
	}
	return objective.Config{
		Step: step, Window: int(peaks(t).Window / step), Lead: lead, Priors: margins,
		Candidates: []string{
			windowpeak.Regression, windowpeak.LastValue, windowpeak.LastSeason, windowpeak.ARIMA,
		},
		Goals:       []objective.Goal{{Late: late}},
		Autoscalers: []objective.Autoscaler{autoscaler(1000)},
	}
}

// player is an objective with the candidates whose forecasts it tries.
type player struct {
	*objective.Calibrator
	set        *windowpeak.CandidateSet
	contenders []string
	now        float64
}

func newPlayer(t *testing.T, c objective.Config) *player {
	t.Helper()
	o, err := objective.NewCalibrator(c)
	if err != nil {
		t.Fatal(err)
	}
	of := peaks(t)
	of.Tolerance, _ = c.Autoscalers[0].Spec.HPA.Tolerances()
	set, err := windowpeak.NewCandidateSet(of)
	if err != nil {
		t.Fatal(err)
	}
	return &player{Calibrator: o, set: set, contenders: c.Candidates}
}

// step takes a demand, NaN for a gap, and gives the value that is served.
func (p *player) step(v float64) float64 {
	p.set.Step(demand.Sample{Observed: v, Value: v})
	if !math.IsNaN(v) {
		p.now = v
	}
	s := objective.Step{Observed: p.now, Arrived: v}
	for _, name := range p.contenders {
		peak, own := p.set.Candidates[p.set.Find(name)].Peak()
		s.Peaks, s.HasForecast = append(s.Peaks, peak), append(s.HasForecast, own)
	}
	p.Step(s)
	return p.DeadBand(0).Pass(decide.HeadroomValue(p.Headroom(0), p.Inputs(0)))
}

// play steps an objective over a demand and returns what it served.
func play(p *player, load []float64) []float64 {
	out := make([]float64, len(load))
	for i, v := range load {
		out[i] = p.step(v)
	}
	return out
}

// days of a workload with a rush each morning and noise.
func days(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n*day)
	for i := range out {
		level := 80 + 40*math.Sin(2*math.Pi*float64(i%day)/day)
		if minute := i % day; minute >= 540 && minute < 600 {
			level += 100
		}
		out[i] = math.Max(0, level*(1+0.05*rng.NormFloat64()))
	}
	return out
}

// What will come changes nothing of what was served: to the last bit, and whatever comes.
func TestTheFutureChangesNothing(t *testing.T) {
	one := days(4, 1)
	two := append([]float64(nil), one...)
	rng := rand.New(rand.NewPCG(2, 2))
	cut := 3*day + 137
	for i := cut; i < len(two); i++ {
		two[i] = 1e6 * rng.Float64()
		if rng.IntN(5) == 0 {
			two[i] = math.NaN()
		}
	}
	a, b := play(newPlayer(t, config(t, 0.01)), one), play(newPlayer(t, config(t, 0.01)), two)
	for i := range cut {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			t.Fatalf("minute %d: %v, with another future from minute %d on %v", i, a[i], cut, b[i])
		}
	}
}

// Twice the demand on replicas that sustain twice as much is served twice.
func TestScale(t *testing.T) {
	one := days(3, 3)
	const factor = 4 // A power of two is exact but for the milli-units that an HPA reads.
	two := make([]float64, len(one))
	for i := range one {
		two[i] = factor * one[i]
	}
	c := config(t, 0.01)
	c.Autoscalers[0].Spec.Capacity *= factor
	c.Autoscalers[0].Spec.HPA.Metrics = []hpa.Metric{c.Autoscalers[0].Spec.HPA.Metrics[0]}
	c.Autoscalers[0].Spec.HPA.Metrics[0].Target *= factor
	a, b := play(newPlayer(t, config(t, 0.01)), one), play(newPlayer(t, c), two)
	for i := range a {
		if math.Abs(b[i]/a[i]-factor) > 0.01*factor {
			t.Fatalf("minute %d: %v, of the demand times %v %v", i, a[i], factor, b[i])
		}
	}
}

// A stricter objective costs more and is later less; both are met within what a week can tell.
func TestObjectivesAreMet(t *testing.T) {
	load := days(9, 4)
	var served []objective.Account
	for _, late := range []float64{0.002, 0.03} {
		o := newPlayer(t, config(t, late))
		play(o, load)
		r := o.Report()
		if r.Verdict != objective.Met || r.Period != 7*24*time.Hour {
			t.Errorf("asked for %v: %s over %s: %s", late, r.Verdict, r.Period, r.Message())
		}
		if got := r.Served.LateShare(); got > 3*late {
			t.Errorf("asked for %v, %v was late", late, got)
		}
		asked := decide.Settings{Late: late}
		if k := o.Headroom(0); k != r.HeadroomFor(asked) {
			t.Errorf("k = %v is served, %v told", k, r.HeadroomFor(asked))
		}
		served = append(served, r.Served)
	}
	if served[0].RelativeCost() <= served[1].RelativeCost() || served[0].LateShare() >= served[1].LateShare() {
		t.Errorf("%+v, want the first to cost more and to be late less", served)
	}
}

// An autoscaler that may not scale far enough is named, with what it would have taken. A gap in the demand changes nothing.
func TestAtMaxReplicas(t *testing.T) {
	c := config(t, 0.01)
	c.Autoscalers = []objective.Autoscaler{autoscaler(12)}
	o := newPlayer(t, c)
	load := days(4, 5)
	load[len(load)-day/2] = math.NaN()
	play(o, load)
	r := o.Report()
	if r.Verdict != objective.AtMaxReplicas || !strings.Contains(r.Message(), "maxReplicas is 12") {
		t.Errorf("%s: %s", r.Verdict, r.Message())
	}
	if r.PeakReplicas <= 12 || r.PeakReplicas > 100 {
		t.Errorf("the highest demand needs %d replicas", r.PeakReplicas)
	}
}

// Bursts out of nothing cannot be met by pods that start when they have come.
func TestFasterThanLead(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	load := make([]float64, 6*day)
	until := 0
	for i := range load {
		load[i] = 20
		if rng.IntN(400) == 0 {
			until = i + 3
		}
		if i < until {
			load[i] = 2000
		}
	}
	o := newPlayer(t, config(t, 0.001))
	play(o, load)
	if r := o.Report(); r.Verdict != objective.FasterThanLead ||
		!strings.Contains(r.Message(), "Forewarm does not use it") {
		t.Errorf("%s: %s", r.Verdict, r.Message())
	}
}

// In its first day the report says that the headroom is that of other workloads.
func TestLearning(t *testing.T) {
	o := newPlayer(t, config(t, 0.01))
	play(o, days(1, 7)[:day/2])
	r := o.Report()
	if r.Verdict != objective.Learning || o.Headroom(0) <= 0 || !strings.Contains(r.Message(), "11 of the 24 hours") {
		t.Errorf("k = %v, %s: %s", o.Headroom(0), r.Verdict, r.Message())
	}
}

// Several autoscalers are served what the one needs that needs most.
func TestSeveralAutoscalers(t *testing.T) {
	c := config(t, 0.01)
	slow := autoscaler(1000)
	slow.Name, slow.Spec.PodLead = "slow", sim.Constant(20*time.Minute)
	c.Autoscalers = append(c.Autoscalers, slow)
	o := newPlayer(t, c)
	play(o, days(4, 8))
	r := o.Report()
	if len(r.Autoscalers) != 2 || o.Headroom(0) != math.Max(r.Autoscalers[0].Headroom, r.Autoscalers[1].Headroom) {
		t.Errorf("k = %v of %+v", o.Headroom(0), r.Autoscalers)
	}
}

// At a price of late demand the margin rises with the price.
func TestPrice(t *testing.T) {
	load := days(5, 9)
	before := -1.0
	for _, price := range []float64{1, 10, 1000} {
		o := newPlayer(t, priced(t, price))
		play(o, load)
		k := o.Headroom(0)
		if k < before {
			t.Errorf("k = %v at a price of %v, %v at a lower one", k, price, before)
		}
		before = k
		r := o.Report()
		if told := r.HeadroomFor(decide.Settings{CostRatio: price}); told != k || r.Price != price ||
			r.Verdict != objective.Met {
			t.Errorf("k = %v is served at a price of %v, %v told: %+v", k, price, told, r)
		}
		// A request may ask for a share all the same.
		few, many := r.HeadroomFor(decide.Settings{Late: 0.001}), r.HeadroomFor(decide.Settings{Late: 0.1})
		if few <= many {
			t.Errorf("k = %v for 0.1 %% late, %v for 10 %%", few, many)
		}
	}
	if !(before > 0) {
		t.Errorf("k = %v at the highest price", before)
	}
}

// priced asks for what is cheapest at a price.
func priced(t *testing.T, price float64) objective.Config {
	t.Helper()
	c := config(t, 0)
	c.Goals[0].Price = price
	return c
}

// The words of a price are of what it costs, and never of a share that was not asked for.
func TestPriceInWords(t *testing.T) {
	load := days(5, 9)
	const asked = "a replica-hour of demand that waits longer than 30s costs as much as 20 idle replica-hours. "
	for hours, want := range map[int]string{
		5:  asked + "Forewarm has observed 5 of the 24 hours that it needs to calibrate the headroom. Until then, it uses ",
		96: " has the lowest total cost. With this headroom, ",
	} {
		o := newPlayer(t, priced(t, 20))
		play(o, load[:hours*60+1])
		r := o.Report()
		if !strings.HasPrefix(r.Message(), asked) || !strings.Contains(r.Message(), want) ||
			strings.Contains(r.Message(), "at most") {
			t.Errorf("after %d hours: %s", hours, r.Message())
		}
	}
}

// Whatever comes, what is served is a number, and no less than what is observed.
func FuzzStep(f *testing.F) {
	f.Add(uint64(1), uint8(3), 5.0)
	f.Add(uint64(2), uint8(200), 1e300)
	f.Add(uint64(3), uint8(0), -1.0)
	f.Fuzz(func(t *testing.T, seed uint64, gaps uint8, scale float64) {
		if math.IsNaN(scale) {
			t.Skip("no scale")
		}
		rng := rand.New(rand.NewPCG(seed, 7))
		c := config(t, 0.01)
		if seed%2 == 1 {
			c = priced(t, 20)
		}
		c.Goals[0].BadHours = seed%4 == 0
		o := newPlayer(t, c)
		for range 300 {
			v := math.Max(0, scale*rng.ExpFloat64())
			if rng.IntN(256) < int(gaps) {
				v = math.NaN()
			}
			if got := o.step(v); !(got >= o.now) {
				t.Fatalf("%v is served of %v", got, o.now)
			}
		}
		if r := o.Report(); r == nil || r.Message() == "" {
			t.Fatal("no report")
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	for name, spoil := range map[string]func(*objective.Config){
		"no objective":     func(c *objective.Config) { c.Goals[0].Late = 0 },
		"everything late":  func(c *objective.Config) { c.Goals[0].Late = 1 },
		"no autoscaler":    func(c *objective.Config) { c.Autoscalers = nil },
		"no contender":     func(c *objective.Config) { c.Candidates = nil },
		"a target of 0":    func(c *objective.Config) { c.Autoscalers[0].Spec.HPA.Metrics[0].Target = 0 },
		"a capacity of 0":  func(c *objective.Config) { c.Autoscalers[0].Spec.Capacity = 0 },
		"no lead time":     func(c *objective.Config) { c.Autoscalers[0].Spec.PodLead = nil },
		"most below least": func(c *objective.Config) { c.Autoscalers[0].Spec.HPA.Max = 0 },
	} {
		c := config(t, 0.01)
		spoil(&c)
		if _, err := objective.NewCalibrator(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The same demand gives the same report.
func TestDeterminism(t *testing.T) {
	load := days(3, 10)
	a, b := newPlayer(t, config(t, 0.01)), newPlayer(t, config(t, 0.01))
	play(a, load)
	play(b, load)
	if diff := cmp.Diff(a.Report(), b.Report(), cmp.Comparer(func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y)
	})); diff != "" {
		t.Error(diff)
	}
}

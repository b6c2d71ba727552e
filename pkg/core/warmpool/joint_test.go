package warmpool_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// world is a set of members whose joint future can be simulated any number of times. The logarithm of a member's demand
// is its own noise, a noise common to all, a daily cycle and shocks common to all.
type world struct {
	name    string
	members int
	// cv is the noise's standard deviation, common the common share of its variance.
	cv, common float64
	// opposed: every second member has the common noise with the opposite sign.
	opposed bool
	// day is the amplitude of the daily cycle; with phased, members have it at different hours.
	day    float64
	phased bool
	// shocks per hour.
	shocks float64
	// dominant: the first member is 25 times as large as the others.
	dominant bool
}

func worlds() []world {
	return []world{
		{name: "independent", members: 8, cv: 0.3},
		{name: "independent, 20", members: 20, cv: 0.3},
		{name: "a common day", members: 8, cv: 0.2, day: 0.6},
		{name: "days apart", members: 8, cv: 0.2, day: 0.6, phased: true},
		{name: "half in common", members: 8, cv: 0.3, common: 0.5},
		{name: "nearly all in common", members: 8, cv: 0.3, common: 0.9},
		{name: "common shocks", members: 8, cv: 0.2, shocks: 0.5},
		{name: "opposed", members: 8, cv: 0.3, common: 0.9, opposed: true},
		{name: "two opposed", members: 2, cv: 0.3, common: 0.9, opposed: true},
		{name: "one dominant", members: 8, cv: 0.3, dominant: true},
	}
}

// worldState is the state of a world, which advances by the minute.
type worldState struct {
	own           []float64
	common, shock float64
}

func (w world) advance(s *worldState, rng *rand.Rand) {
	const keep = 0.967 // Half an hour.
	rest := math.Sqrt(1 - keep*keep)
	for i := range s.own {
		s.own[i] = keep*s.own[i] + rest*rng.NormFloat64()
	}
	s.common = keep*s.common + rest*rng.NormFloat64()
	s.shock *= 0.9
	if rng.Float64() < w.shocks/60 {
		s.shock += 0.5 * rng.ExpFloat64()
	}
}

func (w world) demand(s *worldState, i int, minute float64) float64 {
	phase, sign, level := 0.0, 1.0, 12.0
	if w.phased {
		phase = float64(i) / float64(w.members)
	}
	if w.opposed && i%2 == 1 {
		sign = -1
	}
	if w.dominant {
		level = []float64{100, 4}[min(i, 1)]
	}
	noise := math.Sqrt(1-w.common)*s.own[i] + sign*math.Sqrt(w.common)*s.common
	return level * math.Exp(w.day*math.Sin(2*math.Pi*(minute/1440+phase))+w.cv*noise+s.shock)
}

// fine is a target so small that rounding to replicas does not matter.
const fine = 0.02

// sizes is the capacity of a pool in the members' unit: by the plan, and by the sum of the quantiles.
type sizes struct{ plan, sum float64 }

func sized(distributions []windowpeak.Quantiles, recent []forecast.Series, lead time.Duration) sizes {
	var out sizes
	members := make([]warmpool.Member, len(recent))
	for i, q := range distributions {
		members[i] = warmpool.Member{Name: strconv.Itoa(i), Chunks: 1, Target: fine, Outlook: warmpool.Outlook{
			Recent: recent[i], Windows: []windowpeak.Window{{Horizon: leadtime.Window(lead), Quantiles: q}},
		}}
		out.sum += q.At(0.95)
	}
	plan, _ := warmpool.Memory{}.Plan(recent[0].End(), warmpool.Pool{Quantile: 0.95, Max: 1e6, Pod: lead}, members,
		warmpool.Capacity{})
	out.plan = fine * float64(plan.Want)
	return out
}

// independently returns the 0.95 quantile of a sum of independent members.
func independently(distributions []windowpeak.Quantiles, rng *rand.Rand) float64 {
	draws := make([]float64, 2000)
	for i := range draws {
		for _, q := range distributions {
			draws[i] += q.At(rng.Float64())
		}
	}
	return quantileOf(draws, 0.95)
}

// quantileOf returns a quantile of values, which it sorts.
func quantileOf(values []float64, level float64) float64 {
	slices.Sort(values)
	return values[max(0, int(math.Ceil(level*float64(len(values))))-1)]
}

func distribution(values []float64) windowpeak.Quantiles {
	var out windowpeak.Quantiles
	for i, level := range windowpeak.QuantileLevels() {
		out[i] = quantileOf(values, level)
	}
	return out
}

// score is the relative error of a size against the true quantile, and how often it is enough, both in percent.
type score struct{ bias, coverage float64 }

// The members' own distributions are exact here, so that the test measures their joint distribution alone: against the
// quantile of the sum's maximum in thousands of futures of the same present.
func TestTheJointQuantileIsNearTheTrueOne(t *testing.T) {
	t.Logf("bias of the 0.95 quantile, %% (futures covered, %%)   plan            sum of quantiles   independence")
	var plan, sum, independent float64
	for _, window := range []int{6, 12} {
		for _, w := range worlds() {
			p, s, i := w.play(window)
			t.Logf("%2d min, %-22s %21.1f (%5.1f) %10.1f (%5.1f) %10.1f (%5.1f)", window, w.name, p.bias, p.coverage,
				s.bias, s.coverage, i.bias, i.coverage)
			plan, sum, independent = plan+math.Abs(p.bias), sum+math.Abs(s.bias), independent+math.Abs(i.bias)
			if p.coverage < 94 || p.bias < -2 || p.bias > 12 || p.bias > s.bias+1 {
				t.Errorf("%d min, %s: %+.1f %% off with %.1f %% covered", window, w.name, p.bias, p.coverage)
			}
		}
	}
	n := float64(2 * len(worlds()))
	t.Logf("mean distance: plan %.1f %%, sum of quantiles %.1f %%, independence %.1f %%", plan/n, sum/n, independent/n)
	if plan > sum/3 || plan > independent/2 {
		t.Errorf("the plan is off by %.1f %%, the sum of quantiles by %.1f %%, independence by %.1f %%", plan/n,
			sum/n, independent/n)
	}
}

func (w world) play(window int) (plan, sum, independent score) {
	const presents, futures = 10, 800
	rng := rand.New(rand.NewPCG(1, uint64(window)))
	lead := time.Duration(window)*time.Minute - leadtime.Window(0)
	for range presents {
		s, recent, minute := w.past(rng)
		highest, together := make([][]float64, w.members), make([]float64, futures)
		for i := range highest {
			highest[i] = make([]float64, futures)
		}
		for f := range futures {
			future := worldState{own: slices.Clone(s.own), common: s.common, shock: s.shock}
			for h := range window {
				w.advance(&future, rng)
				total := 0.0
				for i := range highest {
					x := w.demand(&future, i, minute+float64(h))
					highest[i][f] = max(highest[i][f], x)
					total += x
				}
				together[f] = max(together[f], total)
			}
		}
		distributions := make([]windowpeak.Quantiles, w.members)
		for i := range distributions {
			distributions[i] = distribution(highest[i])
		}
		truth := quantileOf(together, 0.95)
		z := sized(distributions, recent, lead)
		for size, to := range map[*score]float64{&plan: z.plan, &sum: z.sum, &independent: independently(distributions, rng)} {
			size.bias += 100 * (to/truth - 1) / presents
			covered, _ := slices.BinarySearch(together, to)
			size.coverage += 100 * float64(covered) / futures / presents
		}
	}
	return plan, sum, independent
}

// past returns a day that starts at a random hour: the state at its end, and the members' demand on a grid of five
// minutes.
func (w world) past(rng *rand.Rand) (s worldState, recent []forecast.Series, minute float64) {
	s.own = make([]float64, w.members)
	recent = make([]forecast.Series, w.members)
	for i := range recent {
		recent[i] = forecast.Series{Start: time.Unix(0, 0), Step: 5 * time.Minute, Values: make([]float64, 288)}
	}
	begin := 1440 * rng.Float64()
	for range 240 {
		w.advance(&s, rng)
	}
	for k := range 1440 {
		w.advance(&s, rng)
		for i := range recent {
			recent[i].Values[k/5] += w.demand(&s, i, begin+float64(k)) / 5
		}
	}
	return s, recent, begin + 1440
}

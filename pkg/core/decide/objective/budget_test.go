package objective_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// jumpy is a daily demand with a burst every few hours, of a size that no forecast knows: what is late follows the headroom.
func jumpy(days int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, seed))
	out := make([]float64, days*day)
	until, factor := 0, 1.0
	for i := range out {
		if i >= until && rng.IntN(180) == 0 {
			until, factor = i+20+rng.IntN(20), 1.2+rng.ExpFloat64()/2
		}
		out[i] = 400 * (1 + 0.5*math.Sin(2*math.Pi*float64(i)/day)) * (1 + rng.Float64()/10)
		if i < until {
			out[i] *= factor
		}
	}
	return out
}

// What is asked for is what is late in the end, neither more nor much less, and the budget's sums are those of the accounts.
func TestBudgetIsSpent(t *testing.T) {
	for _, late := range []float64{0.005, 0.02} {
		o := newPlayer(t, config(t, late))
		play(o, jumpy(28, 3))
		r := o.Report()
		if got := r.Served.LateShare() / late; got < 1.0/3 || got > 1.5 {
			t.Errorf("asked for %v, %.2f times as much was late", late, got)
		}
		b := r.Budget
		if b.Over != 7*24*time.Hour || math.Abs(b.Allowed-late*r.Served.Arrived) > 1e-9*b.Allowed ||
			b.Spent != r.Served.Late || math.Abs(b.SpentShare()-r.Served.LateShare()/late) > 1e-9 {
			t.Errorf("budget %+v of %+v", b, r.Served)
		}
		if met := r.Verdict == objective.Met; met != (b.Left() >= 0) {
			t.Errorf("%s with %v left of the budget", r.Verdict, b.Left())
		}
		if r.TargetLate < late/4 || r.TargetLate > 4*late || r.TargetLate > late && b.Left() < 0 ||
			r.TargetLate < late && b.Left() > 0 {
			t.Errorf("the headroom is found for %v, asked is %v, %+v", r.TargetLate, late, b)
		}
	}
}

// After lateness that the estimates did not expect the budget is overspent: the report says so, more headroom is served than
// the estimates alone would.
func TestOverspent(t *testing.T) {
	demand := jumpy(14, 5)
	rng := rand.New(rand.NewPCG(8, 8))
	for i := 10 * day; i < 12*day; i += 30 + rng.IntN(200) { // Two days of bursts that are larger than any before.
		for j := i; j < min(i+30, 12*day); j++ {
			demand[j] *= 3
		}
	}
	const late = 0.01
	c := config(t, late)
	c.Autoscalers = []objective.Autoscaler{autoscaler(10_000)}
	o := newPlayer(t, c)
	burning := 0.0
	for i, v := range demand[:12*day] {
		o.step(v)
		if i%60 == 59 {
			burning = math.Max(burning, o.Report().Budget.BurnSixHours)
		}
	}
	r := o.Report()
	if r.Verdict != objective.Overspent || !r.Verdict.Misses() || r.Budget.Left() >= 0 || r.TargetLate >= late {
		t.Fatalf("%s, budget %+v, headroom found for %v", r.Verdict, r.Budget, r.TargetLate)
	}
	for _, want := range []string{"at most 1% of the demand over 7 days may wait longer than 30s. In the last 7 days, ", "% was late, ", "of the budget", "Forewarm now uses headroom"} {
		if !strings.Contains(r.Message(), want) {
			t.Errorf("%q does not say %q", r.Message(), want)
		}
	}
	if at := r.Autoscalers[0].Curve.At(r.Autoscalers[0].Headroom); at.Late >= late {
		t.Errorf("headroom %v with %v late, no more than the objective needs", at.Multiplier, at.Late)
	}
	if burning < 2 {
		t.Errorf("burn rate %v at most, while too much was late", burning)
	}
}

// One burst without precedent overspends the budget and changes nothing of what the headroom is found for.
func TestOneBurstIsNotPaidBack(t *testing.T) {
	demand := make([]float64, 5*day)
	for i := range demand {
		demand[i] = 100 + float64(i%7)
	}
	for i := 4*day + 10; i < 4*day+30; i++ {
		demand[i] = 1000
	}
	const late = 0.001
	o := newPlayer(t, config(t, late))
	play(o, demand)
	if r := o.Report(); r.Budget.SpentShare() < 2 || math.Abs(r.TargetLate/late-1) > 0.02 {
		t.Errorf("%s of the budget is spent, the headroom is found for %v of %v", r.Message(), r.TargetLate, late)
	}
}

// The period is the one that is asked for.
func TestPeriod(t *testing.T) {
	c := config(t, 0.01)
	c.Period = 24 * time.Hour
	o := newPlayer(t, c)
	play(o, days(3, 4))
	if r := o.Report(); r.Period != c.Period || r.Budget.Over != c.Period ||
		!strings.Contains(r.Message(), "24 hours") {
		t.Errorf("over %s of %s: %s", r.Period, r.Budget.Over, r.Message())
	}
}

// A value that is served later is later in the simulated autoscalers, too: as much headroom leaves more of the bursts late.
func TestDelay(t *testing.T) {
	demand := jumpy(6, 11)
	before := 0.0
	for _, delay := range []int{0, 1, 3} {
		c := config(t, 0.01)
		c.Delay = delay
		o := newPlayer(t, c)
		play(o, demand)
		late := 0.0
		for _, share := range o.Shares().Late[windowpeak.Regression] {
			late += share
		}
		if late <= before {
			t.Errorf("%v is late with a delay of %d steps, %v with a shorter one", late, delay, before)
		}
		before = late
	}
}

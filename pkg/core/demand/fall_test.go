package demand_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/core/demand"
)

// lows counts the sudden lows that wait and the dips that pass while a filter sees a demand.
func lows(f *demand.Filter, load ...float64) (waited, dips int) {
	for _, v := range load {
		for _, r := range f.Step(demand.Reading{Demand: v}) {
			if r.Dip {
				dips++
			}
		}
		if waiting, _ := f.Fallen(); len(waiting) > 0 {
			waited++
		}
	}
	return waited, dips
}

func TestASuddenLowWaits(t *testing.T) {
	for name, c := range map[string]struct {
		step time.Duration
		load []float64
		// followed is after how many samples lows are served, waited how many steps any waits, and dips how many pass as such.
		followed, waited, dips int
	}{
		"a minute at a tenth":                   {30 * time.Second, []float64{10, 10, 100, 100}, 0, 2, 2},
		"two minutes at 70 %":                   {30 * time.Second, []float64{70, 70, 70, 70, 100}, 0, 4, 4},
		"five minutes are followed from two on": {30 * time.Second, append(flat(10, 10), 100, 100), 5, 10, 10},
		"what lasts ten minutes is learnt":      {30 * time.Second, flat(40, 10), 5, 20, 0},
		"at steps of 15 s":                      {15 * time.Second, flat(80, 10), 9, 40, 0},
		"at steps of 1 m":                       {time.Minute, flat(20, 10), 3, 10, 0},
		"at steps of 5 m":                       {5 * time.Minute, flat(5, 10), 2, 2, 0},
		"at steps of an hour nothing waits":     {time.Hour, flat(5, 10), 0, 0, 0},
		"two dips within minutes":               {30 * time.Second, []float64{10, 10, 100, 100, 10, 100}, 0, 3, 3},
		"a dip, and a lower level after it":     {30 * time.Second, append([]float64{10, 10}, flat(30, 80)...), 5, 20, 2},
		"a gap in the low":                      {30 * time.Second, []float64{10, gap, 10, 100}, 0, 3, 2},
		"a low before a gap":                    {30 * time.Second, []float64{10, gap, gap, gap, gap, gap, 100}, 0, 5, 1},
		"a tenth less is no fall":               {30 * time.Second, flat(30, 91), 0, 0, 0},
		"after a gap, growing":                  {30 * time.Second, []float64{gap, gap, gap, gap, gap, 10, 20, 40, 100}, 0, 3, 3},
	} {
		config := config()
		config.Step = c.step
		f := demand.NewFilter(config)
		lows(f, flat(200, 100)...)
		waited, dips, followed := 0, 0, 0
		for i, v := range c.load {
			w, d := lows(f, v)
			waited, dips = waited+w, dips+d
			if _, now := f.Fallen(); now && followed == 0 {
				followed = i + 1
			}
		}
		if waited != c.waited || dips != c.dips || followed != c.followed {
			t.Errorf(
				"%s: %d steps waited, %d dips, followed at sample %d; want %d, %d, %d",
				name,
				waited,
				dips,
				followed,
				c.waited,
				c.dips,
				c.followed,
			)
		}
	}
}

// A demand that falls by 70 % every half hour is believed, but not right after a gap.
func TestAHabitualFallIsBelieved(t *testing.T) {
	f := demand.NewFilter(config())
	halfHour := append(flat(58, 100), 30, 30)
	lows(f, slices.Repeat(halfHour, 48)...)
	if waited, dips := lows(f, slices.Repeat(halfHour, 48)...); waited+dips > 0 {
		t.Errorf("on the second day %d lows wait, and %d are dips", waited, dips)
	}
	if waited, dips := lows(f, append(flat(20, 100), 10, 100)...); waited != 1 || dips != 1 {
		t.Errorf("a deeper fall: %d lows wait, and %d are dips, want 1 and 1", waited, dips)
	}
	if waited, dips := lows(
		f,
		append(append(flat(20, 100), gap, gap, gap, gap), 30, 100)...); waited != 1 ||
		dips != 1 {
		t.Errorf("after a gap: %d lows wait, and %d are dips, want 1 and 1", waited, dips)
	}
}

// A dip leaves what a gap in its place would leave.
func TestADipIsAGap(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for _, low := range []float64{0, 10, 70} {
		for n := 1; n <= 12; n++ {
			dip, missing := demand.NewFilter(config()), demand.NewFilter(config())
			for i := range 600 {
				v := 1000 * math.Exp(0.02*noise.NormFloat64())
				a, b := v, v
				if i >= 300 && i < 300+n {
					a, b = low, math.NaN()
				}
				got, want := dip.Step(demand.Reading{Demand: a}), missing.Step(demand.Reading{Demand: b})
				if i < 300+n {
					continue
				}
				if g, w := got[len(got)-1], want[len(want)-1]; g.Demand != w.Demand ||
					g.Bound.Limit(1) != w.Bound.Limit(1) {
					t.Fatalf("%d samples of %v, step %d: %+v, with a gap %+v", n, low, i, g, w)
				}
			}
		}
	}
}

// Samples that come once in three minutes each follow a gap. A real fall is believed all the same.
func TestASparseDemandMayFall(t *testing.T) {
	f := demand.NewFilter(config())
	for i := range 200 {
		for range 5 {
			f.Step(demand.Reading{Demand: gap})
		}
		v := 100.0
		if i >= 150 {
			v = 20
		}
		f.Step(demand.Reading{Demand: v})
		if i == 155 {
			if waiting, _ := f.Fallen(); len(waiting) > 0 {
				t.Errorf("a quarter of an hour later %d samples wait", len(waiting))
			}
		}
	}
}

func TestZeroReplicasAreNoSuddenLow(t *testing.T) {
	f := demand.NewFilter(config())
	lows(f, flat(100, 50)...)
	f.Step(demand.Reading{Demand: 0})
	out := f.Step(demand.Reading{Demand: 0, ScaledToZero: true})
	if len(out) != 2 || out[0].Dip {
		t.Errorf("the zero before the workload was scaled to zero: %+v", out)
	}
}

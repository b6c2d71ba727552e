package simulate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/forecast/modeltest"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

// bursty is a day with a cycle of hours, noise, bursts, and gaps, of about 10 replicas.
func bursty(seed uint64, n int) forecast.Series {
	random := rand.New(rand.NewPCG(seed, 1))
	s := demand(make([]float64, n)...)
	burst := 0.0
	for i := range s.Values {
		burst *= 0.95
		if random.IntN(300) == 0 {
			burst += 30 * random.Float64()
		}
		s.Values[i] = math.Max(0, 10+6*math.Sin(float64(i)/200)+random.NormFloat64()+burst)
		if random.IntN(500) == 0 {
			s.Values[i] = math.NaN()
		}
	}
	return s
}

// drawn are configurations with all that can vary.
func drawn(seed uint64, n int) simulate.Config {
	random := rand.New(rand.NewPCG(seed, 2))
	c := config(bursty(seed, n))
	c.Seed = seed
	c.HPA = stock([]float64{0.5, 0.8, 1}[random.IntN(3)]/unit, time.Duration(random.IntN(20))*time.Minute)
	c.HPA.Max = int32(1 + random.IntN(60))
	c.PodLead = []sim.LeadTime{
		sim.Constant(time.Duration(random.IntN(600)) * time.Second),
		sim.LogNormal{Mean: 3 * time.Minute, Sigma: random.Float64()},
		sim.Empirical{0, time.Second, time.Minute, 4 * time.Minute},
	}[random.IntN(3)]
	if random.IntN(2) == 0 {
		c.Nodes = &sim.Nodes{
			Lead: sim.LogNormal{Mean: 2 * time.Minute, Sigma: 0.4}, PodsPerNode: 1 + random.IntN(8),
			KeepIdle: time.Duration(random.IntN(900)) * time.Second,
		}
	}
	c.WarmUp = time.Duration(random.IntN(n/2)) * step
	return c
}

// balance says what does not add up in a run.
func balance(all []sim.StepResult, r simulate.Report) error {
	if in, out := r.Carried+r.Arrived, r.Served+r.Dropped+r.Backlog; !(math.Abs(in-out) <= 1e-9*(1+in)) {
		return fmt.Errorf("%v came, %v went", in, out)
	}
	if !(r.Late >= 0 && r.Late <= r.Arrived*(1+1e-12)) || !(r.Served >= 0) || !(r.Dropped >= 0) || !(r.Backlog >= 0) {
		return fmt.Errorf("amounts of %+v", r)
	}
	for i, m := range all {
		if m.Ready < 0 || m.Ready > m.Replicas || m.Held < m.Ready {
			return fmt.Errorf("step %d: %d ready of %d replicas on %d places", i, m.Ready, m.Replicas, m.Held)
		}
		if i > 0 && m.Replicas-all[i-1].Replicas != m.Started-m.Stopped {
			return fmt.Errorf("step %d: %d replicas after %d, %d started, %d stopped",
				i, m.Replicas, all[i-1].Replicas, m.Started, m.Stopped)
		}
	}
	return nil
}

// All demand is served, leaves or waits; replicas change by what was started and stopped.
func TestConservation(t *testing.T) {
	for seed := range uint64(40) {
		all, report := moments(t, drawn(seed, 2000), simulate.NewObserved())
		if err := balance(all, report); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		warm := len(all) - int(report.Duration/step)
		started, stopped := 0, 0
		for _, m := range all[warm:] {
			started += m.Started
			stopped += m.Stopped
		}
		if started != report.Started || stopped != report.Stopped {
			t.Errorf("seed %d: %d started and %d stopped, the report says %d and %d",
				seed, started, stopped, report.Started, report.Stopped)
		}
	}
}

// More replicas, or faster ones, are never later.
func TestMoreCapacityIsNeverLater(t *testing.T) {
	for seed := range uint64(6) {
		before := math.Inf(1)
		for replicas := int32(6); replicas < 30; replicas++ {
			c := config(bursty(seed, 2000))
			c.HPA.Min, c.HPA.Max = replicas, replicas
			_, report := moments(t, c, simulate.NewObserved())
			if late := report.LateShare(); late > before+1e-12 {
				t.Errorf("seed %d: %d replicas are late %v, one less %v", seed, replicas, late, before)
			} else {
				before = late
			}
		}
	}
}

// A lead time of nothing is never later than one of minutes, where the HPA follows the demand alike.
func TestShorterLeadIsNeverLater(t *testing.T) {
	for seed := range uint64(20) {
		var late [2]float64
		for i, lead := range []time.Duration{0, 5 * time.Minute} {
			c := config(bursty(seed, 2000))
			c.PodLead = sim.Constant(lead)
			_, report := moments(t, c, simulate.NewObserved())
			late[i] = report.LateShare()
		}
		if late[0] > late[1] {
			t.Errorf("seed %d: late %v at once, %v after five minutes", seed, late[0], late[1])
		}
	}
}

// The same configuration gives the same run to the last bit, another seed other lead times.
func TestDeterminism(t *testing.T) {
	c := config(bursty(3, 2000))
	c.PodLead = sim.LogNormal{Mean: 3 * time.Minute, Sigma: 0.5}
	first, _ := moments(t, c, simulate.NewObserved())
	second, _ := moments(t, c, simulate.NewObserved())
	equal(t, "replicas", column(first, replicas), column(second, replicas))
	equal(t, "ready", column(first, ready), column(second, ready))
	c.Seed++
	third, _ := moments(t, c, simulate.NewObserved())
	if cmp.Equal(column(first, ready), column(third, ready)) {
		t.Error("another seed draws the same lead times")
	}
}

// Whatever the demand, a run ends with an error or with finite figures that add up.
func TestHostileDemand(t *testing.T) {
	for name, values := range modeltest.Hostile() {
		c := config(demand(values...))
		c.HPA.Max = 1000
		var all []sim.StepResult
		c.Record = func(m sim.StepResult) { all = append(all, m) }
		report, err := simulate.Run(c, simulate.NewObserved())
		valid := true
		for _, v := range values {
			valid = valid && !math.IsInf(v, 0) && !(v < 0) && !(v >= 9e15)
		}
		if valid != (err == nil) {
			t.Errorf("%s: error %v, want one: %v", name, err, !valid)
		}
		if err != nil {
			continue
		}
		if err := balance(all, report); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRun plays short demands to small clusters.
func FuzzRun(f *testing.F) {
	f.Add([]byte{10, 20, 255, 0, 0, 3}, uint8(3), uint8(10), uint8(2), true)
	f.Add([]byte{}, uint8(0), uint8(0), uint8(0), false)
	f.Add([]byte{0, 0, 0, 0, 200, 200}, uint8(40), uint8(200), uint8(90), false)
	f.Fuzz(func(t *testing.T, values []byte, lead, most, target uint8, nodes bool) {
		s := demand()
		for _, v := range values {
			s.Values = append(s.Values, float64(v)/7)
			if v == 13 {
				s.Values[len(s.Values)-1] = math.NaN()
			}
		}
		c := config(s)
		c.PodLead = sim.Constant(time.Duration(lead) * 7 * time.Second)
		c.HPA.Max = 1 + int32(most)
		c.HPA.Metrics[0].Target = 1 + 10*int64(target)
		if nodes {
			c.Nodes = &sim.Nodes{
				Lead:        sim.Empirical{0, time.Minute},
				PodsPerNode: 1 + int(lead%5),
				KeepIdle:    time.Duration(most) * time.Second,
			}
		}
		all, report := moments(t, c, simulate.NewObserved())
		if err := balance(all, report); err != nil {
			t.Error(err)
		}
	})
}

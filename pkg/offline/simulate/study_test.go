package simulate_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// studied is one of the series of the outcome study, in replicas kept fully busy.
func studied(tb testing.TB, name string) forecast.Series {
	tb.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		tb.Skip("FOREWARM_DATA is unset: it names the folder with outcome/series_15s")
	}
	s, err := trace.ReadFile(filepath.Join(dir, "outcome", "series_15s", name+".csv.gz"), "value")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// stock is the study's HPA: the demand in replicas over a target, the default behavior but for the stabilization.
func stock(target float64, stabilization time.Duration) hpa.Spec {
	down := hpa.DefaultScaleDown()
	down.Stabilization = stabilization
	return hpa.Spec{
		Min: 1, Max: 100_000, Cluster: hpa.DefaultCluster(),
		Metrics: []hpa.Metric{{
			Name: "demand", Source: hpa.External, Type: hpa.AverageValue,
			Target: int64(math.Round(target * unit * 1000)),
		}},
		Behavior: &hpa.Behavior{Up: hpa.DefaultScaleUp(), Down: down},
	}
}

// unit is what a replica serves. The HPA reads thousandths of it, rounded up: with 1 a target of 0.3 would round.
const unit = 1000

func scaled(s forecast.Series, by float64) forecast.Series {
	out := forecast.Series{Start: s.Start, Step: s.Step, Values: make([]float64, s.Len())}
	for i, v := range s.Values {
		out.Values[i] = v * by
	}
	return out
}

// TestStudy holds the simulator to that of the outcome study (sim.py of its folder, run with a lead of 5 minutes on the
// same series: run.py 5, the rows of its table). There a recommendation as old as the stabilization window still counts;
// with a behavior the real controller has it out by then, so a second more makes the windows alike. What is left is how
// far a scale-up goes on that a policy had clipped: the real controller goes on to the highest recommendation of the
// window, the study's stays. On tw_amzn that is the fifth digit.
func TestStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("values alone: nothing here runs at once")
	}
	const window = 5*time.Minute + time.Second
	for _, row := range []struct {
		trace, policy     string
		target            float64
		late, cost, churn float64
	}{
		{"elb", "stock300", 0.3, 0.065016, 4.43448, 259.618},
		{"elb", "stock300", 0.7, 0.397438, 1.91382, 110.938},
		{"elb", "max15m", 0.5, 0.0374212, 3.84676, 67.8819},
		{"elb", "oracle", 0.98, 0, 1.44911, 71.4653},
		{"sg_small_10i", "stock300", 0.5, 0.00562927, 2.11234, 11.6875},
		{"sg_small_10i", "stock300", 0.9, 0.0482336, 1.17767, 6.68056},
		{"sg_small_10i", "max15m", 0.8, 0.0146664, 1.41798, 4.89931},
		{"sg_small_10i", "oracle", 0.98, 0.0033193, 1.09334, 5.75},
		{"sg_small_min", "stock300", 0.7, 0.00917196, 1.50155, 9.21875},
		{"sg_small_min", "max15m", 0.5, 0.00437509, 2.22396, 9.31944},
		{"sg_small_min", "oracle", 0.98, 0.083463, 1.08138, 6.34722},
		{"tw_amzn", "stock300", 0.3, 0.0150032, 3.68136, 69.7812},
		{"tw_amzn", "stock300", 0.9, 0.182078, 1.23866, 23.5625},
		{"tw_amzn", "max15m", 0.8, 0.0436118, 1.63726, 15.125},
		{"tw_amzn", "oracle", 0.98, 0, 1.16509, 20.0069},
		{"wc98_b", "stock300", 0.9, 0.0172235, 1.17912, 3.95833},
		{"wc98_b", "max15m", 0.5, 0, 2.21468, 4.47917},
		{"wc98_b", "oracle", 0.98, 0.00532543, 1.09553, 3.10417},
	} {
		s := scaled(studied(t, row.trace), unit)
		c := simulate.Config{
			Demand: s, WarmUp: 48 * time.Hour,
			Spec: sim.Spec{
				Capacity: unit, HPA: stock(row.target, window), PodLead: sim.Constant(5 * time.Minute),
			},
		}
		report, err := simulate.Run(c, simulate.NewTape(studyValues(t, &c, row.policy)))
		if err != nil {
			t.Fatal(err)
		}
		for what, pair := range map[string][2]float64{
			"late": {report.LateShare(), row.late}, "cost": {report.RelativeCost(), row.cost},
			"churn": {report.ChurnPerHour(), row.churn},
		} {
			if got, want := pair[0], pair[1]; !(math.Abs(got-want) <= 0.001*want) {
				t.Errorf("%s, %s at %v: %s %.6g, in the study %.6g", row.trace, row.policy, row.target, what, got, want)
			}
		}
	}
}

// studyValues are what a policy of the study serves; the oracle's HPA has no stabilization.
func studyValues(tb testing.TB, c *simulate.Config, name string) []float64 {
	tb.Helper()
	var (
		values []float64
		err    error
	)
	switch name {
	case "stock300":
		values, err = simulate.ServedValues(c.Demand, step, simulate.NewObserved())
	case "max15m":
		values, err = simulate.ServedValues(c.Demand, step, simulate.NewMax(15*time.Minute, step))
	default:
		c.HPA.Behavior.Down.Stabilization = 0
		values, err = simulate.OracleValues(c.Demand, 5*time.Minute+75*time.Second, step)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return values
}

// fortnight is 14 days of 15 s.
func fortnight() forecast.Series { return bursty(1, 14*24*240) }

// BenchmarkRun is a fortnight of 15 s steps under the stock HPA.
func BenchmarkRun(b *testing.B) {
	c := config(scaled(fortnight(), unit))
	c.Capacity, c.HPA, c.PodLead = unit, stock(0.7, 5*time.Minute), sim.Constant(5*time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := simulate.Run(c, simulate.NewObserved()); err != nil {
			b.Fatal(err)
		}
	}
}

// A step allocates nothing.
func TestStepAllocatesNothing(t *testing.T) {
	s := scaled(bursty(1, 5000), unit)
	c := config(s)
	c.Capacity, c.HPA = unit, stock(0.7, 5*time.Minute)
	all, err := sim.New(c.Spec, s.Start, s.Step, []float64{0})
	if err != nil {
		t.Fatal(err)
	}
	i, value := 0, 0.0
	one := func() {
		if v := s.Values[i%s.Len()]; !math.IsNaN(v) {
			value = v
		}
		all[0].Step(value, value)
		i++
	}
	for range s.Len() {
		one()
	}
	if n := testing.AllocsPerRun(s.Len(), one); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}

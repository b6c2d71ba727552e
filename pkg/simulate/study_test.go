package simulate_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/hpa"
	"github.com/forewarm/forewarm/pkg/simulate"
	"github.com/forewarm/forewarm/pkg/simulate/policy"
	"github.com/forewarm/forewarm/pkg/source/trace"
)

// studied is one of the series of the outcome study, in replicas kept fully busy.
func studied(tb testing.TB, name string) forecast.Series {
	tb.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		tb.Skip("FOREWARM_DATA is unset: it names the folder with outcome/series_15s")
	}
	s, err := trace.Open(filepath.Join(dir, "outcome", "series_15s", name+".csv.gz"), "value")
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

func TestX(t *testing.T) {
	for _, name := range []string{"sg_small_min", "sg_small_10i", "wc98_b", "elb", "tw_amzn"} {
		s := scaled(studied(t, name), unit)
		for _, x := range []float64{.3, .5, .7, .9, 1} {
			c := simulate.Config{Demand: s, Capacity: unit, HPA: stock(x, 301*time.Second), Pod: simulate.Constant(5 * time.Minute), WarmUp: 48 * time.Hour}
			at := time.Now()
			r, err := simulate.Run(c, policy.NewObserved())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s stock %.2f late %.6g cost %.6g churn %.6g  %v", name, x, r.LateShare(), r.Cost(), r.ChurnPerHour(), time.Since(at))
		}
		c := simulate.Config{Demand: s, Capacity: unit, HPA: stock(.5, 301*time.Second), Pod: simulate.Constant(5 * time.Minute), WarmUp: 48 * time.Hour}
		r, _ := simulate.Run(c, policy.NewMax(15*time.Minute, 15*time.Second))
		t.Logf("%s max15m .5 late %.6g cost %.6g churn %.6g", name, r.LateShare(), r.Cost(), r.ChurnPerHour())
		r, _ = simulate.Run(c, policy.NewOffset(5*time.Minute, 15*time.Second, 24*time.Hour, 7*24*time.Hour))
		t.Logf("%s offset .5 late %.6g cost %.6g churn %.6g", name, r.LateShare(), r.Cost(), r.ChurnPerHour())
		r, _ = simulate.Run(c, policy.NewDayProfile(5*time.Minute, time.Hour, 15*time.Second))
		t.Logf("%s profile .5 late %.6g cost %.6g churn %.6g", name, r.LateShare(), r.Cost(), r.ChurnPerHour())
		c.HPA = stock(.98, 0)
		p, err := policy.NewOracle(s, 5*time.Minute+75*time.Second, 15*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r, _ = simulate.Run(c, p)
		t.Logf("%s oracle .98 late %.6g cost %.6g churn %.6g", name, r.LateShare(), r.Cost(), r.ChurnPerHour())
	}
}

package compare_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

const (
	day = 24 * time.Hour
	// capacity of a replica, in the demand's unit.
	capacity = 100
)

func start() time.Time { return time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC) }

// working is days of a demand in minutes that begins at eight, doubles within minutes at nine, and ends at six: what a
// reactive autoscaler is late for every morning.
func working(days int) forecast.Series {
	random := rand.New(rand.NewPCG(11, 12))
	s := forecast.Series{Start: start(), Step: time.Minute}
	for i := range days * 24 * 60 {
		hour := float64(i%1440) / 60
		v := 300.0
		switch {
		case hour >= 9 && hour < 18:
			v = 1600
		case hour >= 8 && hour < 19:
			v = 800
		}
		s.Values = append(s.Values, math.Max(0, v*(1+0.03*random.NormFloat64())))
	}
	return s
}

// config is a stock HPA of 80 % of a replica's capacity, on replicas that take five minutes.
func config(s forecast.Series) compare.Config {
	return compare.Config{
		Demand: s, Source: "a test", Autoscaler: "HorizontalPodAutoscaler/llama",
		HPA: hpa.Spec{
			Min: 1, Max: 100, Cluster: hpa.DefaultCluster(),
			Metrics: []hpa.Metric{{Name: "load", Source: hpa.External, Type: hpa.AverageValue, Target: 80 * 1000}},
		},
		Lead: compare.LeadTime{Median: 5 * time.Minute, Known: "given"}, Capacity: capacity, Objective: 0.01,
	}
}

func played(t *testing.T, c compare.Config) *compare.Comparison {
	t.Helper()
	out, err := compare.Compare(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func named(t *testing.T, c *compare.Comparison, name string) *compare.PolicyResult {
	t.Helper()
	for i := range c.Policies {
		if c.Policies[i].Name == name {
			return &c.Policies[i]
		}
	}
	t.Fatalf("no policy %s", name)
	return nil
}

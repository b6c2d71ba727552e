package report_test

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

// Whatever the numbers, a comparison is told: no panic, nothing that is no number, a page that is well-formed.
func FuzzNumbers(f *testing.F) {
	f.Add(0.01, 0.02, 1.5, 3.0, 2.0, 80)
	f.Add(0.0, 0.0, 0.0, 0.0, 0.0, 0)
	f.Add(math.NaN(), math.Inf(1), math.Inf(-1), math.NaN(), -1.0, -5)
	f.Add(1e300, 1e-300, 1e300, 1e300, 1e-300, 1000)
	f.Fuzz(func(t *testing.T, objective, late, cost, demand, paid float64, width int) {
		start := time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)
		course := []compare.Slot{
			{Start: start, Demand: demand, Ready: paid, Paid: paid, Late: late},
			{Start: start.Add(time.Hour), Demand: paid, Ready: demand, Paid: demand},
			{Start: start.Add(2 * time.Hour), Demand: late, Ready: cost, Paid: cost, Late: objective},
		}
		c := &compare.Comparison{
			Assumptions: compare.Assumptions{Objective: objective, GPUPrice: cost, GPUs: paid, Gaps: late},
		}
		for _, name := range []string{compare.BestTarget, compare.Forewarm} {
			c.Policies = append(c.Policies, compare.PolicyResult{
				Name:     name,
				Target:   cost,
				Timeline: course,
				Report:   simulate.Report{Arrived: demand, Late: late, ReplicaHours: cost},
				Frontier: []compare.Point{
					{Setting: cost, Late: late, RelativeCost: cost},
					{Late: objective, RelativeCost: paid},
				},
			})
		}
		// Labels of charts aside, no line need be longer than a number may be.
		if told := text(t, c, min(width, 200)); strings.Contains(told, "NaN") {
			t.Errorf("told as\n%s", told)
		}
		asJSON(t, c)
		for _, name := range []string{"path", "svg", "line", "rect", "circle"} {
			for _, e := range parsed(t, c).all(name) {
				for attr, v := range e.attr {
					if strings.Contains(v, "NaN") || strings.Contains(v, "Inf") {
						t.Errorf("%s has %s=%q", name, attr, v)
					}
				}
			}
		}
	})
}

// A fortnight of eight policies as a page.
func BenchmarkHTML(b *testing.B) {
	c := comparison()
	fortnight := *c
	fortnight.Policies = nil
	for _, p := range append(c.Policies[:6:6], c.Policies[0], c.Policies[1]) {
		start := p.Timeline[0].Start
		var long []compare.Slot
		for i := range 14 * 288 {
			s := p.Timeline[i%len(p.Timeline)]
			s.Start = start.Add(time.Duration(i) * 5 * time.Minute)
			long = append(long, s)
		}
		p.Timeline = long
		fortnight.Policies = append(fortnight.Policies, p)
	}
	for b.Loop() {
		if err := report.HTML(io.Discard, &fortnight); err != nil {
			b.Fatal(err)
		}
	}
}

package hpacases

import (
	"math"
	"math/rand/v2"
)

// generator makes HPAs of all kinds and their load.
type generator struct{ *rand.Rand }

func pick[T any](g generator, of ...T) T { return of[g.IntN(len(of))] }

func (g generator) spec() Spec {
	s := Spec{
		Min:           pick[int32](g, 1, 1, 2, 5),
		Tolerance:     pick(g, 0.1, 0.1, 0.1, 0, 0.25),
		Stabilization: pick[int32](g, 300, 300, 60, 0),
		Every:         pick[int32](g, 15, 15, 15, 2, 30),
		ScaleToZero:   g.IntN(3) == 0,
	}
	if s.ScaleToZero {
		s.Min = pick[int32](g, 0, 0, 0, 1)
	}
	s.Max = s.Min + pick[int32](g, 0, 3, 10, 40, 1000)
	s.Max = max(s.Max, 1)
	for range pick(g, 1, 1, 1, 2, 3) {
		s.Metrics = append(s.Metrics, Metric{
			Source: pick(g, "External", "Object"),
			Type:   pick(g, "AverageValue", "AverageValue", "Value"),
			Target: pick[int64](g, 1, 500, 1000, 4000, 7333, 80_000, 1_000_000),
		})
	}
	if g.IntN(3) > 0 {
		s.Up, s.Down = g.rules(true), g.rules(false)
	}
	return s
}

// rules are those that a user wrote, or nil for the API server's defaults.
func (g generator) rules(up bool) *Rules {
	if g.IntN(3) == 0 {
		return nil
	}
	r := &Rules{Select: pick(g, "Max", "Max", "Min", "Disabled")}
	if up || g.IntN(2) == 0 {
		window := pick[int32](g, 0, 0, 30, 60, 300)
		r.Stabilization = &window
	}
	if g.IntN(2) == 0 {
		r.Tolerance = pick(g, "0", "0.01", "0.05", "0.5")
	}
	for range 1 + g.IntN(3) {
		r.Policies = append(r.Policies, Policy{
			Type:   pick(g, "Pods", "Percent"),
			Value:  pick[int32](g, 1, 2, 4, 10, 33, 50, 100, 200),
			Period: pick[int32](g, 5, 15, 30, 60, 120),
		})
	}
	return r
}

// load is demand that drifts, jumps, stays constant and falls to 0, in replicas.
type load struct {
	generator
	level float64
}

func (l *load) next(ceiling int32) float64 {
	switch l.IntN(12) {
	case 0:
		l.level = 0
	case 1, 2:
		l.level = l.Float64() * 1.3 * float64(min(ceiling, 60))
	case 3:
		l.level = math.Round(l.level)
	default:
		l.level *= math.Exp(l.NormFloat64() * 0.2)
	}
	return l.level
}

// readings are the metrics API's values of a load: each metric measures a part of it, some fail, a few are hostile.
func (g generator) readings(s Spec, level float64) [][]int64 {
	out := make([][]int64, len(s.Metrics))
	for i, m := range s.Metrics {
		total := int64(level * float64(m.Target) * (0.7 + 0.3*g.Float64()))
		switch g.IntN(40) {
		case 0, 1:
			continue // failed
		case 2:
			total = huge(m)
		case 3:
			total = -total
		}
		out[i] = []int64{total}
		if m.Source == "External" && g.IntN(4) == 0 {
			out[i] = []int64{total / 3, total - total/3}
		}
		if m.Type == "AverageValue" && m.Source == "External" && g.IntN(60) == 0 {
			out[i] = []int64{math.MaxInt64, 5} // Overflows.
		}
	}
	return out
}

// huge is the largest value that the controller's arithmetic supports: only an External AverageValue is guarded against
// more replicas than fit into an int32.
func huge(m Metric) int64 {
	if m.Source == "External" && m.Type == "AverageValue" {
		return math.MaxInt64 / 2
	}
	return 1_000_000 * m.Target
}

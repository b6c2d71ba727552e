package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Strip is what happened under one autoscaler: all values are in replicas, one for each interval of equal length, NaN where unknown.
// Two strips over one time axis are a race.
type Strip struct {
	Start time.Time
	Long  time.Duration
	// Demand is the highest of an interval, Late the share of it that waited too long.
	Demand, Late []float64
	// Ready replicas; Paid are those that were paid for, of which Idle were held unused: nil where nothing is known.
	Ready, Paid, Idle []float64
	// Actual replicas that were ready in a cluster, to compare the Ready ones of a simulation with; nil where nothing is known.
	Actual []float64
}

// Top is a little more than the highest demand of some strips, and than the replicas up to three times that demand; 1 where all is 0.
// Strips that are drawn below the same top compare.
func Top(strips ...Strip) float64 {
	most, held := 0.0, 0.0
	for i := range strips {
		s := &strips[i]
		most = max(most, HighestValue(s.Demand))
		held = max(held, HighestValue(s.Paid), HighestValue(s.Ready), HighestValue(s.Actual))
	}
	if top := 1.05 * max(most, min(held, 3*most)); top > 0 && !math.IsInf(top, 0) {
		return top
	}
	return 1
}

// HighestValue of those that are finite, 0 at least.
func HighestValue(values []float64) float64 {
	top := 0.0
	for _, v := range values {
		if v > top && humanize.Known(v) {
			top = v
		}
	}
	return top
}

// Chart draws the strip below a top, at which what is more is cut.
func (s *Strip) Chart(top, tall float64) *Chart {
	long, n := max(s.Long.Seconds(), 1), max(len(s.Demand), 1)
	c := &Chart{
		X: TimeAxis(s.Start, 0, long), Y: NumberAxis(0, top), Tall: tall, Across: float64(n), Up: 1000,
	}
	steps := func(value func(i int) float64) []Point {
		values := make([]float64, len(s.Demand))
		for i := range values {
			values[i] = min(value(i), top)
		}
		return Steps(values, long/float64(n))
	}
	// only is a value where there is something of another.
	only := func(some []float64, value func(i int) float64) []Point {
		return steps(func(i int) float64 {
			if i < len(some) && some[i] > 0 {
				return value(i)
			}
			return math.NaN()
		})
	}
	line := func(class string, of []float64) {
		if of != nil {
			c.Line(class, steps(func(i int) float64 { return of[i] })...)
		}
	}
	demand := func(i int) float64 { return s.Demand[i] }
	c.Area("demand", nil, steps(demand))
	if s.Idle != nil {
		c.Area("idle", only(s.Idle, func(i int) float64 { return s.Paid[i] - s.Idle[i] }),
			only(s.Idle, func(i int) float64 { return s.Paid[i] }))
	}
	c.Area("late", only(s.Late, func(i int) float64 { return s.Demand[i] * (1 - s.Late[i]) }), only(s.Late, demand))
	line("paid", s.Paid)
	line("ready", s.Ready)
	line("actual", s.Actual)
	s.markLate(c, long/float64(n))
	return c
}

// markLate marks the intervals in which something was late, in three classes: under 1 %, under 10 %, more.
func (s *Strip) markLate(c *Chart, every float64) {
	var grades [3][]float64
	for i, late := range s.Late {
		at := (float64(i) + 0.5) * every
		switch {
		case late >= 0.1:
			grades[2] = append(grades[2], at)
		case late >= 0.01:
			grades[1] = append(grades[1], at)
		case late > 0:
			grades[0] = append(grades[0], at)
		}
	}
	for i, at := range grades {
		c.Rug("mark m"+strconv.Itoa(i), at...)
	}
}

// The signs of a strip in characters.
const demandSign, lateSign, readySign = '░', '█', '━'

// StripSigns explains the signs of Text.
const StripSigns = "░ demand   ━ replicas ready   █ waited"

// Text draws the strip below a top in characters. A column has the highest demand of its intervals, the fewest ready replicas and the
// largest late share.
func (s *Strip) Text(top float64, columns, lines int) string {
	long := max(s.Long.Seconds(), 1)
	out := NewCells(TimeAxis(s.Start, 0, long), NumberAxis(0, top), columns, lines)
	wide := len(out.lines[0])
	for column := range wide {
		from, to := column*len(s.Demand)/wide, (column+1)*len(s.Demand)/wide
		if to == from {
			to = min(from+1, len(s.Demand))
		}
		if from >= to {
			continue
		}
		x := long * (float64(column) + 0.5) / float64(wide)
		demand, late := HighestValue(s.Demand[from:to]), HighestValue(s.Late[from:to])
		step := top / float64(lines-1)
		for y := 0.0; y <= demand && demand > 0; y += step {
			sign := demandSign
			if late > 0 && y+step > demand*(1-late) {
				sign = lateSign
			}
			out.Put(Point{x, y}, sign)
		}
		if ready := slices.Min(s.Ready[from:to]); !math.IsNaN(ready) {
			out.Put(Point{x, min(ready, top)}, readySign)
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

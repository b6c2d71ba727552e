package main

import (
	"fmt"
	"math"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// mostWindows and testShare are GIFT-Eval's: the windows are in the last tenth of a series, and no more than 20.
const (
	mostWindows = 20
	testShare   = 0.1
)

// windowSets are the sets of a folder of traces: each file by its own step and by the coarser ones of steps, forecast
// over GIFT-Eval's short horizon and its medium one, of ten times that. leftOut are those with less history than the
// horizon.
func windowSets(all []demandtest.Recorded) (sets []set, leftOut []string) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].File == all[0].File {
			n++
		}
		for _, step := range steps(all[0].Series.Step) {
			for _, times := range []int{1, 10} {
				if s := windowSet(all[:n], step, times*shortHorizon(step)); s.windows != nil {
					sets = append(sets, s)
				} else {
					leftOut = append(leftOut, s.name)
				}
			}
		}
		all = all[n:]
	}
	return sets, leftOut
}

// steps are a trace's own and the coarser ones that it divides.
func steps(own time.Duration) []time.Duration {
	out := []time.Duration{own}
	for _, step := range []time.Duration{30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour} {
		if step > own && step%own == 0 {
			out = append(out, step)
		}
	}
	return out
}

func shortHorizon(step time.Duration) int {
	if step < time.Minute {
		return 60
	}
	return 48
}

// windowSet has the windows of a file's columns. All have as many as the shortest, and none overlap.
func windowSet(columns []demandtest.Recorded, step time.Duration, horizon int) set {
	out := set{
		kind: "windows", name: fmt.Sprintf("%s %s h=%d", columns[0].File, humanize.Span(step), horizon),
		season: seasonOf(step), horizon: horizon,
		seasons: []int{int(24 * time.Hour / step), int(7 * 24 * time.Hour / step)},
	}
	coarse, shortest := make([]forecast.Series, len(columns)), math.MaxInt
	for i, c := range columns {
		coarse[i] = means(c.Series, int(step/c.Series.Step))
		shortest = min(shortest, coarse[i].Len())
	}
	n := int(math.Ceil(testShare * float64(shortest) / float64(horizon)))
	n = min(max(1, n), mostWindows)
	if shortest < (n+1)*horizon {
		return out
	}
	for i, s := range coarse {
		for k := n; k > 0; k-- {
			origin := s.Len() - k*horizon
			out.windows = append(out.windows, window{
				id:   fmt.Sprintf("%s at %d", columns[i].Name, origin),
				past: s.Slice(0, origin), actual: s.Values[origin : origin+horizon],
			})
		}
	}
	return out
}

// seasonOf is GluonTS's: an hour of steps below a minute, a day of longer ones; 1 where it is no whole number of them.
func seasonOf(step time.Duration) int {
	cycle := 24 * time.Hour
	if step < time.Minute {
		cycle = time.Hour
	}
	if cycle%step != 0 {
		return 1
	}
	return int(cycle / step)
}

// means are those of so many steps each, of what is known of them; what is left at the end is left off.
func means(s forecast.Series, every int) forecast.Series {
	out := forecast.Series{Start: s.Start, Step: s.Step * time.Duration(every), Values: make([]float64, s.Len()/every)}
	for i := range out.Values {
		sum, known := 0.0, 0.0
		for _, v := range s.Values[i*every : (i+1)*every] {
			if !math.IsNaN(v) {
				sum += v
				known++
			}
		}
		out.Values[i] = sum / known // NaN where none is known.
	}
	return out
}

package forecaster_test

import (
	"math"
	"testing"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/forecaster"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// An objective by bad hours is judged sensibly, and leads to a sensible value, whatever the history looks like.
func TestBadHoursOfOddHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("replays some weeks by the minute")
	}
	day := func(hour float64) float64 { return 100 + 80*math.Sin(2*math.Pi*(hour-8)/24) }
	known := func(least, most int) func(judged, bad int) bool {
		return func(judged, bad int) bool { return judged >= least && judged <= most && bad >= 0 && bad <= judged }
	}
	for name, c := range map[string]struct {
		step, length, wait, over time.Duration
		begin                    time.Time
		highest                  int32 // maxReplicas
		demand                   func(hour float64) float64
		judged                   func(judged, bad int) bool
		named                    int // bad hours that are named, at most
	}{
		// Bursts of two requests at night are all late, which makes their hours bad. They weigh next to nothing, and are not named.
		"no traffic at night": {demand: func(hour float64) float64 {
			switch h := math.Mod(hour, 24); {
			case h >= 6 && h < 22:
				return 200
			case math.Mod(hour, 1) < .02 && math.Mod(math.Floor(hour), 3) == 0:
				return 2
			}
			return 0
		}, judged: known(300, 336), named: 28},
		"one replica":                    {demand: day, highest: 1, judged: known(300, 336), named: 336},
		"a wait longer than an hour":     {demand: day, wait: 2 * time.Hour, judged: func(_, bad int) bool { return bad == 0 }},
		"over a day":                     {demand: day, over: 24 * time.Hour, judged: known(23, 24), named: 24},
		"a history of minutes":           {demand: day, length: 40 * time.Minute, judged: known(0, 0)},
		"two hours":                      {demand: day, length: 2 * time.Hour, judged: known(0, 2), named: 2},
		"steps of 7 minutes":             {step: 7 * time.Minute, demand: day, judged: known(300, 336), named: 336},
		"a begin within an hour":         {begin: start.Add(37 * time.Minute), demand: day, judged: known(300, 336), named: 336},
		"no demand at all":               {demand: func(float64) float64 { return 0 }, judged: func(_, bad int) bool { return bad == 0 }},
		"nothing known":                  {demand: func(float64) float64 { return gap }, judged: known(0, 0)},
		"the night in which clocks move": {begin: time.Date(2026, 10, 18, 0, 0, 0, 0, time.UTC), demand: day, judged: known(300, 336), named: 336},
		// Hours in a gap are not judged, and neither are the two at its edges.
		"gaps over whole hours": {demand: func(hour float64) float64 {
			if h := math.Mod(hour, 24); h >= 10.5 && h < 13.5 {
				return gap
			}
			return day(hour)
		}, judged: known(250, 336-14*4+4), named: 336},
	} {
		if c.step == 0 {
			c.step = time.Minute
		}
		if c.length == 0 {
			c.length = 14 * 24 * time.Hour
		}
		if c.begin.IsZero() {
			c.begin = start
		}
		of := asked()
		of.Step, of.Window = c.step, leadtime.Window(5*time.Minute)+c.step
		of.Settings = decide.Settings{
			Late:     .01,
			BadHours: true,
			Wait:     c.wait,
			Over:     c.over,
			Target:   10,
			Lead:     5 * time.Minute,
		}
		if c.highest > 0 {
			of.Autoscalers[0].HPA.Max = c.highest
		}
		h := forecaster.History{Series: forecast.Series{Start: c.begin, Step: c.step}}
		highest := 0.0
		for at := time.Duration(0); at < c.length; at += c.step {
			v := c.demand(at.Hours())
			h.Values = append(h.Values, v)
			if v > highest {
				highest = v
			}
		}
		e := describe(forecaster.New(of, h))
		if v := e.Decision.Value; math.IsInf(v, 0) || v < 0 || v > 4*highest+10 {
			t.Errorf("%s: %v is served, the highest demand was %v", name, v, highest)
		}
		judged, bad, named := 0, 0, 0
		if r := e.Objective; r != nil {
			judged, bad, named = r.Bad.Judged, r.Bad.Count, len(r.Bad.Worth)
			if s := r.Bad.Share; !(s >= 0 && s <= 1) || r.Message() == "" {
				t.Errorf("%s: a share of %v, %q", name, s, r.Message())
			}
		}
		if !c.judged(judged, bad) || named > c.named || named > bad {
			t.Errorf("%s: %d of %d hours are bad, %d of them named", name, bad, judged, named)
		}
	}
}

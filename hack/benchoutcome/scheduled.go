package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// scheduledFamily is that of the loads that are made here. They count in no summary beside recorded ones, and nothing is
// learnt from them.
const scheduledFamily = "scheduled"

// timetable is a load that follows the clock, as no recorded trace does so strictly.
type timetable struct {
	name string
	// days that it lasts; busy says when the load is high, by the time since the first midnight; high is by how much.
	days int
	busy func(at time.Duration) bool
	high float64
	// deviation of the noise, which lasts for about two minutes. The outcome study does not say how its own loads were
	// made. These are such that the offset policy costs at 0.5 % late and a lead of 5 minutes what it does there: 1.28
	// and 1.49.
	deviation float64
}

func officeHours(at time.Duration) bool { return at%day >= 9*time.Hour && at%day < 17*time.Hour }

func timetables() []timetable {
	return []timetable{
		{
			name: "scheduled_9_to_17", days: 14, high: 4, deviation: 0.14,
			busy: officeHours,
		},
		{
			name: "scheduled_weekdays", days: 28, high: 4, deviation: 0.14,
			busy: func(at time.Duration) bool { return at/day%7 < 5 && officeHours(at) },
		},
		{
			name: "scheduled_hourly_batch", days: 14, high: 2.5, deviation: 0.093,
			busy: func(at time.Duration) bool { return at%time.Hour < 10*time.Minute },
		},
	}
}

// scheduledLoads are the timetables, played.
func scheduledLoads() ([]recorded, error) {
	var out []recorded
	for _, load := range timetables() {
		demand := load.demand()
		if err := demandtest.Scale(demand, meanReplicas*replicaCapacity); err != nil {
			return nil, err
		}
		out = append(out, recorded{name: load.name, family: scheduledFamily, demand: demand})
	}
	return out, nil
}

func (l timetable) demand() forecast.Series {
	const share = 0.125
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // The same load every time.
	spread := l.deviation * math.Sqrt(2*share-share*share)
	s := forecast.Series{Start: time.Unix(0, 0).UTC(), Step: sim.DefaultSync}
	noise := 0.0
	for at := time.Duration(0); at < time.Duration(l.days)*day; at += sim.DefaultSync {
		noise += spread*random.NormFloat64() - share*noise
		level := 1.0
		if l.busy(at) {
			level = l.high
		}
		s.Values = append(s.Values, level*math.Max(0, 1+noise))
	}
	return s
}

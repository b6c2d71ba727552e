package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

const (
	// replicaCapacity is what a replica serves. The HPA reads thousandths of the demand's unit, rounded up: a unit of a replica
	// would make its rounding felt.
	replicaCapacity = 1000
	// meanReplicas is what the mean of every trace is scaled to.
	meanReplicas = 12

	day = 24 * time.Hour
	// nearlyDay is how long a recorded day is at least: one of hours ends 23 hours after its first.
	nearlyDay = 23 * time.Hour
)

// recorded is a column of a trace file, scaled.
type recorded struct {
	name, family string
	demand       forecast.Series
}

// counts says that the trace counts in the figures, and that something may be learnt from it: it is not made here.
func (r recorded) counts() bool { return r.family != scheduledFamily }

// readTraces reads folders one after the other, and leaves out what is shorter than a day.
func readTraces(dirs ...string) ([]recorded, error) {
	var out []recorded
	for _, dir := range dirs {
		traces, err := demandtest.Read(dir)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, r := range traces {
			if time.Duration(r.Series.Len())*r.Series.Step < nearlyDay {
				continue
			}
			if err := demandtest.Scale(r.Series, meanReplicas*replicaCapacity); err != nil {
				return nil, fmt.Errorf("%s in %s: %w", r.Name, dir, err)
			}
			out = append(out, recorded{name: r.Name, family: familyOf(r.File), demand: r.Series})
		}
		if len(out) == before {
			return nil, fmt.Errorf("%s: no trace of a day", dir)
		}
	}
	return out, nil
}

// familyOf is the collection that a trace stems from: traces of one are alike, and count together as much as those of
// another. It is the first word of the name without its number, but for the words that public collections go by.
func familyOf(name string) string {
	word, _, _ := strings.Cut(strings.ToLower(name), "_")
	if unnumbered := strings.TrimRight(word, "0123456789"); unnumbered != "" {
		word = unnumbered
	}
	switch word {
	case "servegen":
		return "sg"
	case "worldcup":
		return "wc"
	case "elb", "tw":
		return "nab"
	case "azure":
		return "az"
	case "gpu", "gen":
		return "gentd"
	default:
		return word
	}
}

// scheduledFamily is that of the loads that are made here. They count in no summary of recorded ones, and nothing is
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

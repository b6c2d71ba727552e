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
	// replicaCapacity is the demand that a replica serves. The HPA reads thousandths of the demand's unit, rounded up. With a smaller
	// capacity, its rounding would affect the result.
	replicaCapacity = 1000
	// meanReplicas is the mean to which every trace is scaled.
	meanReplicas = 12

	day = 24 * time.Hour
	// nearlyDay is the minimum length of a recorded day. A day with hourly values ends 23 hours after its first value.
	nearlyDay = 23 * time.Hour
)

// recorded is a column of a trace file, scaled.
type recorded struct {
	name, family string
	demand       forecast.Series
}

// counts reports whether the trace counts in the figures and can be learned from. Generated traces do not count.
func (r recorded) counts() bool { return r.family != scheduledFamily }

// readTraces reads folders one after the other, and skips traces that are shorter than a day.
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

// familyOf returns the collection to which a trace belongs. The traces of a collection are similar, and all collections have the same
// weight. It is the first word of the name without its number, except for the names of public collections.
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

// scheduledFamily is the family of generated loads. They do not count in summaries of recorded loads, and nothing is learned from them.
const scheduledFamily = "scheduled"

// timetable is a load that follows the clock more strictly than any recorded trace.
type timetable struct {
	name string
	// days is its length. busy reports whether the load is high at a time since the first midnight, and high says how high it is.
	days int
	busy func(at time.Duration) bool
	high float64
	// deviation is the standard deviation of the noise, which lasts for about two minutes. The outcome study does not say how its own loads
	// were generated. With these values, the offset policy has the same cost as in the study, 1.28 and 1.49, at 0.5 % late and a lead time of
	// 5 minutes.
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

// scheduledLoads returns the loads of the timetables.
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

package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/hack/demandtest"
	"github.com/forewarm/forewarm/pkg/offline/simulate"
)

const (
	// workloadGrid is the grid of the recorded workloads, two steps of the loop's: what is observed is a mean.
	workloadGrid = 15 * time.Second
	// meanReplicas of workloadTarget is what the mean of every recorded workload is scaled to, as in benchoutcome.
	meanReplicas, workloadTarget = 12, 1000
	// scenarioTarget is what a replica sustains in a scenario.
	scenarioTarget = 100
	// shortest is how long a recorded workload is at least: one of hours ends 23 hours after its first.
	shortest = 23 * time.Hour
	day      = 24 * time.Hour
)

// kind of histories, which is the name of their record too.
type kind string

const (
	workloads kind = "workloads"
	scenarios kind = "scenarios"
)

// history is a demand to play.
type history struct {
	kind   kind
	name   string
	demand forecast.Series
	// target is what one replica sustains, in the demand's unit.
	target int64
	// rate says that the demand is a rate over a minute; else it is a gauge.
	rate bool
}

// madeScenarios are the histories of package [demandtest].
func madeScenarios() []history {
	var out []history
	for _, s := range demandtest.Scenarios() {
		out = append(out, history{kind: scenarios, name: s.Name, demand: s.Demand(), target: scenarioTarget})
	}
	return out
}

// recordedWorkloads are those of both folders of the outcome study.
func recordedWorkloads(data string) ([]history, error) {
	var out []history
	for _, set := range []string{"series_15s", "workloads"} {
		traces, err := demandtest.Read(filepath.Join(data, "outcome", set))
		if err != nil {
			return nil, fmt.Errorf("%w: FOREWARM_DATA names the folder with outcome/%s", err, set)
		}
		for _, r := range traces {
			demand, err := laid(r.Series)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			if time.Duration(demand.Len())*demand.Step >= shortest {
				h := history{kind: workloads, name: r.Name, demand: demand, target: workloadTarget, rate: true}
				out = append(out, h)
			}
		}
	}
	return out, nil
}

// laid lays a trace on the grid and scales it.
func laid(s forecast.Series) (forecast.Series, error) {
	s, err := simulate.Resample(s, workloadGrid)
	if err == nil {
		err = demandtest.Scale(s, meanReplicas*workloadTarget)
	}
	// The times of some are counted from 0. The loop's anchors are multiples since the epoch, and no server runs before it.
	if s.Start.Year() == 1970 {
		s.Start = demandtest.Start().Add(time.Duration(s.Start.UnixNano()))
	}
	return s, err
}

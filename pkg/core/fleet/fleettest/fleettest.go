// Package fleettest has fleets in every state, at the moment of the snapshots of snapshottest.
package fleettest

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
)

// Store has the fleets of EveryState.
func Store() *fleet.Store {
	all := map[snapshot.Key]*fleet.State{}
	for _, s := range EveryState() {
		all[s.Key] = s
	}
	out := &fleet.Store{}
	out.Set(all)
	return out
}

// EveryState returns the fleets h100, stale, broken and unlimited of the namespace inference, and the fleet secret of another.
func EveryState() []*fleet.State {
	stale, secret, unlimited := H100(), H100(), H100()
	stale.Key = snapshottest.Key("stale")
	stale.Plan.At = stale.Plan.At.Add(-3 * time.Minute)
	secret.Key = snapshot.Key{Namespace: "other", Name: "secret"}
	unlimited.Key, unlimited.Day = snapshottest.Key("unlimited"), fleet.Day{}
	unlimited.Plan.Unknown = []string{"chat is stale"}
	unlimited.Plan.Batch = []fleet.Spare{{
		Consumer: fleet.Consumer{Name: "embeddings", GPUs: 1, Share: 1, Run: 20 * time.Minute},
		Need:     math.Inf(1), Expected: math.Inf(1), Margin: math.Inf(1),
	}}
	unlimited.Running = []int{2}
	broken := &fleet.State{Key: snapshottest.Key("broken"), Problem: "Forecast <chat> does not exist: create it"}
	return []*fleet.State{H100(), stale, broken, unlimited, secret}
}

// H100 is a fleet of 64 GPUs, of which 12 embeddings may run now, and no evals.
func H100() *fleet.State {
	now := snapshottest.Now()
	day := fleet.Day{GPUs: 62}
	names := []string{"chat", "code", "search", "speech", "vision", "words", "tiny"}
	for i := range names {
		day.Members = append(day.Members, fleet.DayOfMember{Name: names[i], Unknown: i == len(names)-1})
	}
	for hour := range 24 {
		at := now.Truncate(time.Hour).Add(time.Duration(hour) * time.Hour)
		total := 0.0
		for i := range day.Members {
			gpus := float64(len(names)-i) * (1.5 + math.Cos(float64(at.Hour()-9)/24*2*math.Pi))
			day.Members[i].GPUs = append(day.Members[i].GPUs, gpus)
			total += gpus
		}
		day.Hours, day.Total = append(day.Hours, at), append(day.Total, total)
	}
	consumer := func(name string, run time.Duration) fleet.Consumer {
		return fleet.Consumer{Name: name, GPUs: 1, Share: 1, Run: run}
	}
	return &fleet.State{
		Key: snapshottest.Key("h100"),
		Plan: fleet.Plan{
			At: now.Add(-15 * time.Second), GPUs: 64, Other: 2, Members: 31,
			Batch: []fleet.Spare{
				{
					Consumer: consumer("embeddings", 20*time.Minute), Replicas: 12,
					Need: 37.8, Expected: 36, Margin: 0.05,
				},
				{Consumer: consumer("evals", time.Hour), Replicas: 0, Need: 62, Expected: 60, Margin: 0.2},
			},
		},
		Running: []int{9, 0},
		Day:     day,
	}
}

package main

import (
	"time"
)

// recipe is one generated file.
type recipe struct {
	file   string
	column string
	digits int
	// shape is the shape of a synthetic trace. If drawn is above 0, it is the seed of a trace that is drawn from the recorded rate in package
	// servegen.
	shape shape
	drawn uint64
	// plain is true if the trace is easier to forecast than recorded demand.
	plain bool
}

const day = 24 * time.Hour

// traces returns all recipes. The shift and the outage are well before the last days, which the demo shows.
func traces() []recipe {
	monday := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	return []recipe{
		{
			file: "requests_14d.csv.gz", column: "requests",
			shape: shape{
				Seed: 1, Start: monday, Length: 14 * day,
				Base: 3600, Day: 0.31, Weekend: 0.82,
				Wander: 0.14, Memory: 50 * time.Minute,
				BurstsPerDay: 2.5, BurstHeight: 2.2,
				ShiftAt: 9*day + 13*time.Hour, Shift: 1.2,
				OutageAt: 6*day + 9*time.Hour, Outage: 70 * time.Minute,
				Observe: counts(4),
			},
		},
		{
			file: "gpu_busy_14d.csv.gz", column: "gpu_busy", digits: 3,
			shape: shape{
				Seed: 2, Start: monday, Length: 14 * day,
				Base: 2.7, Day: 0.42, Weekend: 0.8,
				Wander: 0.16, Memory: 70 * time.Minute,
				BurstsPerDay: 2, BurstHeight: 1.2,
				ShiftAt: 8*day + 10*time.Hour, Shift: 1.2,
				OutageAt: 4*day + 2*time.Hour, Outage: 45 * time.Minute,
				Observe: busy(6, 0.04),
			},
		},
		{
			// Users begin to work at about nine, and their number is different each day.
			file: "office_14d.csv.gz", column: "requests", plain: true,
			shape: shape{
				Seed: 7, Start: monday, Length: 14 * day,
				Base: 2400, Day: 0.35, Weekend: 0.5, Open: 3,
				OpenFade: 15 * time.Minute, OpenJitter: 20 * time.Minute, OpenLevel: 0.2,
				Wander: 0.04, Memory: 4 * time.Hour, Shift: 1,
				Observe: counts(4),
			},
		},
		{
			file: "llm_14d.csv.gz", column: "requests", drawn: 8, shape: shape{Start: monday},
		},
		{
			file: "calm_14d.csv.gz", column: "requests", plain: true,
			shape: shape{
				Seed: 6, Start: monday, Length: 14 * day,
				Base: 3600, Day: 0.25, Weekend: 0.95,
				Wander: 0.05, Memory: 2 * time.Hour, Shift: 1,
				Observe: counts(2),
			},
		},
	}
}

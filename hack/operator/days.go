package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/scaledtozero"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// day is one of an operator's days: what goes wrong, or looks like it, and what Forewarm makes of it.
type day struct {
	// Name and Happens say what happens, for a reader.
	Name, Happens string
	// demand is the demand at a time after the event, of what it would be without it; nil for that.
	demand func(after time.Duration, usual float64) float64
	// fail is the source's error at a time after the event; nil for none.
	fail func(after time.Duration) error
	// change changes the Forecast; nil for none.
	change func(t *refresh.Target, now time.Time)
	// restart is when the adapter starts anew after the event; 0 for never.
	restart time.Duration

	// After is when the rest holds, after the event.
	After time.Duration
	// Served is what is served, for a reader. least and most bound it, as multiples of what was served before the event; 0 and 0 for
	// nothing.
	Served      string
	least, most float64
	// State of the Forecast, and conditions with their reasons; none that are bad where there are none.
	State      string
	Conditions map[string]string
	// Alert that fires, for the first time Within a time after the event; empty for none in the time until After and the ten minutes
	// after that.
	Alert  string
	Within time.Duration
	// Do is what to do.
	Do string
	// Test plays it where it takes a cluster; empty where this table is played.
	Test string
}

const minute = time.Minute

// event is when something happens; fourteen days come before it.
func event() time.Time { return time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC) }

// days lists all.
func days() []day {
	return append(played(), inACluster()...)
}

func unavailable(time.Duration) error { return fmt.Errorf("%w: status 503", series.ErrUnavailable) }

// comesAndGoes is a source that does not answer for five minutes of every ten.
func comesAndGoes(after time.Duration) error {
	if after%(10*minute) < 5*minute {
		return unavailable(after)
	}
	return nil
}

// counted is a counter of one request each second.
func counted(after time.Duration, _ float64) float64 {
	return 1e6 + after.Seconds() + (14 * 24 * time.Hour).Seconds()
}

// until returns an error until a time after the event.
func until(end time.Duration, err func(time.Duration) error) func(time.Duration) error {
	return func(after time.Duration) error {
		if after >= end {
			return nil
		}
		return err(after)
	}
}

// times multiplies the demand by a factor for a time.
func times(factor float64, lasts time.Duration) func(time.Duration, float64) float64 {
	return func(after time.Duration, usual float64) float64 {
		if after >= 0 && after < lasts {
			return factor * usual
		}
		return usual
	}
}

const (
	notServed, suspect = "ForewarmForecastNotServed", "ForewarmDemandSuspect"
	data, signal       = "DataClean", "SignalPlausible"
	forEver            = 1000 * time.Hour
)

// played are the days that are played here, in simulated time.
func played() []day {
	return slices.Concat(falseZeros(), sources(), starts(), wrongSignals(), loads(), histories())
}

// falseZeros are days on which the demand reads 0.
func falseZeros() []day {
	return []day{
		{
			Name:       "A false zero",
			Happens:    "`or vector(0)`, a broken filter, a rollout whose new pods nobody scrapes: the demand reads 0",
			demand:     times(0, forEver),
			After:      70 * minute,
			Served:     "what was served before for ten minutes, then half as much every hour",
			least:      0.45,
			most:       0.55,
			State:      "Ready",
			Conditions: map[string]string{data: "OutageSuspected"},
			Alert:      suspect,
			Within:     20 * minute,
			Do:         "correct the query or the scraping, or set `minReplicas`. If the load has ended, nothing",
		},
		{
			Name:    "A false zero that heals",
			Happens: "half an hour later the demand is there again",
			demand:  times(0, 30*minute),
			After:   62 * minute,
			Served:  "as if nothing had happened",
			least:   0.85,
			most:    1.2,
			State:   "Ready",
			Alert:   suspect,
			Within:  20 * minute,
			Do:      "nothing",
		},
		{
			Name:    "A false zero that comes and goes",
			Happens: "five minutes of every ten the demand reads 0",
			demand: func(after time.Duration, usual float64) float64 {
				if after > 0 && after%(10*minute) < 5*minute {
					return 0
				}
				return usual
			},
			After:  55 * minute,
			Served: "the demand of the good minutes",
			least:  0.4,
			most:   1.5,
			State:  "Ready",
			Conditions: map[string]string{
				data: "OutageSuspected",
			},
			Alert:  suspect,
			Within: 20 * minute,
			Do:     "correct the scraping",
		},
	}
}

// sources are days of the source.
func sources() []day {
	return []day{
		{
			Name:       "The source is away",
			Happens:    "Prometheus answers 503, for longer than `staleAfter`",
			fail:       unavailable,
			After:      15 * minute,
			Served:     "the running maximum, after `staleAfter` (10 min) nothing",
			State:      "Stale",
			Conditions: map[string]string{"SourceHealthy": "Unavailable"},
			Alert:      notServed,
			Within:     18 * minute,
			Do:         "restore the source. Nothing else: a Forecast recovers by itself",
		},
		{
			Name:       "A source that comes and goes",
			Happens:    "five minutes of every ten Prometheus answers 503",
			fail:       comesAndGoes,
			After:      3*time.Hour + 8*minute,
			Served:     "the demand, or the running maximum",
			least:      0.4,
			most:       1.2,
			State:      "Ready",
			Conditions: map[string]string{"SourceHealthy": "Unavailable"},
			Do:         "restore the source",
		},
		{
			Name:    "The source is away for five minutes",
			Happens: "a restart of Prometheus",
			fail:    until(5*minute, unavailable),
			After:   16 * minute,
			Served:  "the running maximum meanwhile",
			least:   0.9,
			most:    1.2,
			State:   "Ready",
			Do:      "nothing",
		},
	}
}

// starts are days on which Forewarm starts, or a Forecast is new, and of two mistakes at once.
func starts() []day {
	return []day{
		{
			Name:       "Forewarm restarts while the source is away",
			Happens:    "a drain or an upgrade during the outage",
			fail:       unavailable,
			restart:    2 * minute,
			After:      10 * minute,
			Served:     "nothing by the new replica. It is not ready for ten minutes, so a rollout keeps the old one",
			State:      "Pending",
			Conditions: map[string]string{"SourceHealthy": "Unavailable"},
			Alert:      notServed,
			Within:     10 * minute,
			Do:         "restore the source",
		},
		{
			Name:       "A typo in a query",
			Happens:    "a new Forecast, or a change of its query, that the source refuses",
			fail:       func(time.Duration) error { return fmt.Errorf("%w: parse error", series.ErrQuery) },
			restart:    minute,
			After:      10 * minute,
			Served:     "nothing",
			State:      "Pending",
			Conditions: map[string]string{"SourceHealthy": "QueryRefused"},
			Alert:      notServed,
			Within:     10 * minute,
			Do:         "correct the query",
		},
		{
			Name:    "Two at once",
			Happens: "the demand reads 0 while the source comes and goes",
			demand: times(
				0,
				forEver,
			),
			fail:       comesAndGoes,
			After:      48 * minute,
			Served:     "as at a false zero",
			least:      0.55,
			most:       1.2,
			State:      "Ready",
			Conditions: map[string]string{data: "OutageSuspected", "SourceHealthy": "Unavailable"},
			Alert:      suspect,
			Within:     25 * minute,
			Do:         "restore the source first",
		},
	}
}

// wrongSignals are days of a signal that is not the demand.
func wrongSignals() []day {
	return []day{
		{
			Name: "A counter for a demand", Happens: "`rate()` was forgotten: the value only rises",
			demand: counted,
			After:  10 * minute, Served: "nothing", State: "Invalid", Alert: notServed,
			Within: 10 * minute, Do: "write `sum(rate(…[2m]))`",
		},
		{
			Name:       "An average for a total",
			Happens:    "`avg()` instead of `sum()`: the HPA divides it once more",
			change:     func(t *refresh.Target, _ time.Time) { t.Average = true },
			After:      20 * minute,
			Served:     "the average",
			least:      0.9,
			most:       1.2,
			State:      "Ready",
			Conditions: map[string]string{signal: "Average"},
			Alert:      suspect,
			Within:     20 * minute,
			Do:         "write `sum()`",
		},
		{
			Name:    "A frozen value",
			Happens: "an exporter, a recording rule or a federation hangs, and its last value is scraped on",
			demand: func(after time.Duration, usual float64) float64 {
				if after >= 0 {
					return 97.25
				}
				return usual
			},
			After:      90 * minute,
			Served:     "what is read",
			least:      0.5,
			most:       1.5,
			State:      "Ready",
			Conditions: map[string]string{signal: "Frozen"},
			Alert:      suspect,
			Within:     85 * minute,
			Do:         "restart what hangs",
		},
		{
			Name:       "Pods that nobody scrapes",
			Happens:    "two ready replicas have no sample in a preset of running and waiting requests",
			change:     func(t *refresh.Target, _ time.Time) { t.Silent = "silent" },
			demand:     times(0.75, forEver),
			After:      30 * minute,
			Served:     "the demand of the others",
			least:      0.7,
			most:       1.2,
			State:      "Ready",
			Conditions: map[string]string{signal: "SilentReplicas"},
			Alert:      suspect,
			Within:     30 * minute,
			Do:         "correct the scraping of new pods",
		},
	}
}

// loads are days on which the demand is odd, and right.
func loads() []day {
	var zero scaledtozero.Record
	return []day{
		{
			Name:    "One absurd sample",
			Happens: "a doubled scrape, a wrong unit: × 100 for one step",
			demand:  times(100, minute),
			After:   10 * minute,
			Served:  "at most [the bound](../concepts.md#the-bound), for a step",
			least:   0.9,
			most:    2.6,
			State:   "Ready",
			Do:      "nothing",
		},
		{
			Name:    "A load test",
			Happens: "five times the usual demand for an hour",
			demand:  times(5, time.Hour),
			After:   30 * minute,
			Served:  "the demand, from the third minute on",
			least:   4.5,
			most:    13,
			State:   "Ready",
			Do:      "nothing",
		},
		{
			Name:    "Half of the traffic leaves",
			Happens: "another region takes it over",
			demand:  times(0.5, forEver),
			After:   3 * time.Hour,
			Served:  "what is left, once the forecast has seen it",
			least:   0.4,
			most:    1,
			State:   "Ready",
			Do:      "nothing",
		},
		{
			Name: "Scaled to zero", Happens: "the workload has no replicas, and its signal is gone with them",
			demand: times(math.NaN(), forEver),
			change: func(t *refresh.Target, now time.Time) {
				if !now.Before(event()) {
					zero, _ = zero.Observe(true, now)
					t.ScaledToZero = zero
				}
			},
			After: 30 * minute, Served: "the forecast alone", least: 0, most: 1.2, State: "Ready", Do: "nothing",
		},
	}
}

// histories are days of a history with holes.
func histories() []day {
	return []day{
		{
			Name: "A hole in the history", Happens: "Prometheus was restored, and two days are missing",
			demand: func(after time.Duration, usual float64) float64 {
				if after > -3*24*time.Hour && after < -24*time.Hour {
					return math.NaN()
				}
				return usual
			},
			After: 10 * minute, Served: "the demand, as before", least: 0.9, most: 1.2, State: "Ready", Do: "nothing",
		},
		{
			Name: "A retention shorter than the history", Happens: "Prometheus keeps two days of the 14",
			demand: func(after time.Duration, usual float64) float64 {
				if after < -2*24*time.Hour {
					return math.NaN()
				}
				return usual
			},
			After: 10 * minute, Served: "the demand, with less knowledge", least: 0.9, most: 1.2, State: "Ready",
			Do: "nothing, or a longer retention",
		},
	}
}

// inACluster are the days that other tests play on a real control plane.
func inACluster() []day {
	return []day{
		{
			Name:       "The API is not reached",
			Happens:    "a NetworkPolicy, an expired certificate: the APIService is not available",
			Served:     "nothing reaches the HPAs, which keep their replicas",
			Conditions: map[string]string{"Reachable": "APIServiceUnavailable"},
			Alert:      "ForewarmAPIGroupLost",
			Within:     5 * minute,
			Do:         "`kubectl describe apiservice` has the error",
			Test:       "TestConditionSaysWhoHoldsWhat",
		},
		{
			Name:    "A certificate of your own ends",
			Happens: "cert-manager or an existing Secret was not renewed",
			Served:  "as before",
			Alert:   "ForewarmCertificateEnds",
			Within:  15 * minute,
			Do:      "renew it",
			Test:    "TestFilesHaveAnEnd",
		},
		{
			Name: "A Forecast is deleted under its HPA", Happens: "or renamed: the HPA names one that is not there",
			Served: "nothing, and the HPA keeps its replicas", Alert: "ForewarmForecastMissing", Within: 10 * minute,
			Do: "create it again, or write the new name into the HPA", Test: "TestCluster",
		},
		{
			Name:    "Replicas do not come",
			Happens: "no GPU is to be had, or a rollout is stuck",
			Served:  "what the demand needs",
			Alert:   "ForewarmReplicasNotReady",
			Within:  35 * minute,
			Do:      "`kubectl get pods`: which are pending, and why",
			Test:    "TestCluster",
		},
		{
			Name:    "Replicas start more slowly",
			Happens: "a larger image, a slower disk",
			Served:  "more, further ahead",
			Alert:   "ForewarmLeadTimeJumped",
			Within:  15 * minute,
			Do:      "find why. If it was an accident, reset the record",
			Test:    "TestAlerts",
		},
	}
}

package main

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/demand"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// falseZeros returns days on which the demand reads 0.
func falseZeros() []day {
	return []day{
		{
			Name: "A false zero",
			Happens: "the measured demand is 0 because of `or vector(0)`, a broken filter, or a rollout whose new " +
				"pods are not scraped",
			demand: times(0, forEver),
			After:  70 * minute, least: 0.45, most: 0.55,
			Served:     "the previous value for ten minutes; then Forewarm halves it every hour",
			Conditions: map[string]string{data: "OutageSuspected"}, Alert: suspect, Within: 20 * minute,
			Do: "correct the query or the scraping, or set `minReplicas`. If the load has really ended, do nothing",
		},
		{
			Name:    "A false zero that ends by itself",
			Happens: "the correct demand is measured again half an hour later",
			demand:  times(0, 30*minute),
			After:   62 * minute, least: 0.85, most: 1.2, Alert: suspect,
			Served: "after the false zero, the same as before",
			Within: 20 * minute,
		},
		{
			Name: "A false zero that comes and goes", Happens: "the measured demand is 0 for five minutes in every ten",
			demand: func(after time.Duration, usual float64) float64 {
				if after > 0 && after%(10*minute) < 5*minute {
					return 0
				}
				return usual
			},
			After: 55 * minute, least: 0.4, most: 1.5, Served: "the demand of the minutes with correct samples",
			Conditions: map[string]string{data: "OutageSuspected"}, Alert: suspect, Within: 20 * minute,
			Do: "correct the scraping",
		},
	}
}

// sources returns days with problems of the source.
func sources() []day {
	return []day{
		{
			Name: "The source is down", Happens: "Prometheus answers 503 for longer than `staleAfter`",
			fail:  unavailable,
			After: 15 * minute, Served: "the running maximum; after `staleAfter` (10 min), nothing", State: "Stale",
			Conditions: map[string]string{"SourceHealthy": "Unavailable"}, Alert: notServed, Within: 18 * minute,
			Do: "restore the source. The Forecast then recovers without further action",
		},
		{
			Name:    "A source that fails again and again",
			Happens: "Prometheus answers 503 for five minutes in every ten",
			fail:    comesAndGoes,
			After:   3*time.Hour + 8*minute, least: 0.4, most: 1.2, Served: "the demand, or the running maximum",
			Conditions: map[string]string{"SourceHealthy": "Unavailable"}, Do: "restore the source",
		},
		{
			Name: "The source is down for five minutes", Happens: "Prometheus restarts",
			fail:  until(5*minute, unavailable),
			After: 16 * minute, least: 0.9, most: 1.2, Served: "meanwhile, the running maximum",
		},
	}
}

// asking adds a side query to a job.
func asking(name refresh.SideQuery, expr string) func(*refresh.Job, time.Time) {
	return func(t *refresh.Job, _ time.Time) { t.SideQueries = refresh.SideQueries{name: expr} }
}

// wrongTargets returns days with a target that is not what a replica sustains. Five replicas are ready.
func wrongTargets() []day {
	scaled := func(target int64) func(*refresh.Job, time.Time) {
		return func(t *refresh.Job, _ time.Time) {
			t.SideQueries = refresh.SideQueries{refresh.Ready: "ready", refresh.Saturated: "saturated"}
			t.Autoscalers = []decide.Autoscaler{{Name: "spec.scaling", HPA: hpa.Spec{
				Min:     1,
				Max:     100,
				Metrics: []hpa.Metric{{Name: "demand", Type: hpa.AverageValue, Target: 1000 * target}},
			}}}
		}
	}
	return []day{
		{
			Name: "A target far too high",
			Happens: "the target is five times what a replica sustains or has another unit, or the query returns " +
				"the demand per " +
				"replica. Replicas are full, and the HPA adds none",
			change: scaled(200), saturated: true,
			After: 50 * minute, least: 0.9, most: 1.5, Served: "the demand",
			Conditions: map[string]string{signal: "TargetTooHigh"}, Alert: suspect, Within: 60 * minute,
			Do: "correct the target. `forewarm capacity` estimates what a replica sustains",
		},
		{
			Name: "A target far too low",
			Happens: "the target is a fifth of what a replica sustains, or counts requests while the query counts " +
				"tokens. Many replicas are idle",
			change: scaled(5),
			After:  50 * minute, least: 0.9, most: 1.2, Served: "the demand",
			Conditions: map[string]string{signal: "TargetTooLow"}, Alert: suspect, Within: 60 * minute,
			Do: "correct the target. `forewarm capacity` estimates what a replica sustains",
		},
	}
}

// weekends returns days with a load that ends now and then.
func weekends() []day {
	const two = 48 * time.Hour
	return []day{{
		Name: "A weekend without load, and Monday", Happens: "the demand is 0 for two days, as it was a week earlier",
		demand: func(after time.Duration, usual float64) float64 {
			if since := after + 7*24*time.Hour; after >= 0 && after < two || since >= 0 && since < two {
				return 0
			}
			return usual
		},
		After: two + 10*minute, Served: "the demand as soon as it returns on Monday", least: 0.9, most: 1.5,
	}}
}

// wrongSignals returns days with a signal that is not the demand.
func wrongSignals() []day {
	return []day{
		{
			Name: "The query returns a counter", Happens: "`rate()` was forgotten, so the value only rises",
			demand: counted,
			After:  10 * minute, Served: "nothing", State: "Invalid", Alert: notServed,
			Within: 10 * minute, Do: "write `sum(rate(…[2m]))`",
		},
		{
			Name:    "The query returns an average",
			Happens: "the query uses `avg()` instead of `sum()`, so the HPA divides the demand once more",
			change:  func(t *refresh.Job, _ time.Time) { t.Average = true },
			After:   20 * minute, least: 0.9, most: 1.2, Served: "the average",
			Conditions: map[string]string{signal: "Average"}, Alert: suspect, Within: 20 * minute,
			Do: "use `sum()`",
		},
		{
			Name: "A frozen value",
			Happens: "an exporter, a recording rule or a federation hangs, and Prometheus keeps scraping its last " +
				"value",
			demand: func(after time.Duration, usual float64) float64 {
				if after >= 0 {
					return 97.25
				}
				return usual
			},
			After: 90 * minute, least: 0.5, most: 1.5, Served: "the frozen value",
			Conditions: map[string]string{signal: "Frozen"}, Alert: suspect, Within: 85 * minute,
			Do: "restart the component that hangs",
		},
		{
			Name:    "Pods that are not scraped",
			Happens: "a preset that counts running and waiting requests has no samples from two ready replicas",
			change:  asking(refresh.NotReporting, "silent"), demand: times(0.75, forEver),
			After: 30 * minute, least: 0.7, most: 1.2, Served: "the demand of the other replicas",
			Conditions: map[string]string{signal: "SilentReplicas"}, Alert: suspect, Within: 30 * minute,
			Do: "correct the scraping of new pods",
		},
		{
			Name: "kube-state-metrics is down or lags behind",
			Happens: "for eight minutes, all of kube-state-metrics or one shard is missing, so the owners of some " +
				"pods are unknown",
			change: asking(refresh.UnknownOwner, "unowned"), demand: times(math.NaN(), 8*minute),
			After: 7 * minute, least: 0.8, most: 1.2, Served: "meanwhile, the running maximum", State: "FallingBack",
			Conditions: map[string]string{signal: "OwnersUnknown"}, Alert: suspect, Within: 20 * minute,
			Do: "restore kube-state-metrics, including every shard",
		},
	}
}

// levels returns days on which the level of the signal changes: a counter restarts, or the unit changes.
func levels() []day {
	return []day{
		{
			Name: "The query returns a counter that restarts",
			Happens: "`rate()` was forgotten, and one of several processes restarts every six hours, so the value " +
				"sometimes falls a little",
			demand: func(after time.Duration, _ float64) float64 {
				return (after + 20*24*time.Hour).Seconds() + ((after + 20*24*time.Hour) % (6 * time.Hour)).Seconds()
			},
			After:  10 * minute,
			Served: "nothing",
			State:  "Invalid",
			Alert:  notServed,
			Within: 10 * minute,
			Do:     "write `sum(rate(…[2m]))`",
		},
		{
			Name: "A unit that changes",
			Happens: "an exporter or a recording rule reports a rate per second instead of per minute. The " +
				"demand is 1/60, with the same shape",
			demand:     times(1./60, forEver),
			After:      65 * minute,
			least:      0.9 / 60,
			most:       2. / 60,
			Served:     "at most the previous value for 40 to 50 minutes, then the demand in the new unit",
			Conditions: map[string]string{data: "UnitChanged"},
			Alert:      suspect,
			Within:     65 * minute,
			Do:         "correct the autoscaler's target, or restore the unit",
		},
	}
}

// loads returns days on which the demand is unusual but real.
func loads() []day {
	var zero demand.ZeroPeriods
	return []day{
		{
			Name:    "One absurd sample",
			Happens: "the measured demand is 100 times too high for one step, for example because of a wrong unit",
			demand:  times(100, minute),
			After:   10 * minute, least: 0.9, most: 2.6,
			Served: "at most [the bound](../concepts.md#the-bound), for one step",
		},
		{
			Name: "A load test", Happens: "for an hour, the demand is five times as high as usual",
			demand: times(5, time.Hour),
			After:  30 * minute, least: 4.3, most: 13, Served: "the demand, from the third minute on",
		},
		{
			Name: "Half of the traffic moves away", Happens: "another region takes over half of the traffic",
			demand: times(0.5, forEver),
			After:  3 * time.Hour, least: 0.4, most: 1, Served: "the remaining demand, as soon as the forecast " +
				"has adapted to it",
		},
		{
			Name: "Scaled to zero", Happens: "the workload has no replicas, so its signal has no samples",
			demand: times(math.NaN(), forEver),
			change: func(t *refresh.Job, now time.Time) {
				if !now.Before(event()) {
					zero, _ = zero.Observe(true, now)
					t.ScaledToZero = zero
				}
			},
			After: 30 * minute, Served: "the forecast alone", least: 0, most: 1.2,
		},
	}
}

// histories returns days with gaps in the history.
func histories() []day {
	return []day{
		{
			Name:    "A hole in the history",
			Happens: "Prometheus was restored from a backup, and two days of samples are missing",
			demand: func(after time.Duration, usual float64) float64 {
				if after > -3*24*time.Hour && after < -24*time.Hour {
					return math.NaN()
				}
				return usual
			},
			After: 10 * minute, Served: "the same as before", least: 0.9, most: 1.2,
		},
		{
			Name: "A retention shorter than the history", Happens: "Prometheus keeps only two of the 14 days",
			demand: func(after time.Duration, usual float64) float64 {
				if after < -2*24*time.Hour {
					return math.NaN()
				}
				return usual
			},
			After: 10 * minute, Served: "a value based on two days of history", least: 0.9, most: 1.2,
			Do: "nothing; a longer retention improves the forecast",
		},
	}
}

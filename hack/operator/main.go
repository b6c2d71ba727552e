// Command operator prints docs/reference/failures.md: an operator's days on which something goes wrong, and how one learns of it.
// Its tests play them.
package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/refresh"
)

func main() { fmt.Print(page()) }

func page() string {
	var out strings.Builder
	out.WriteString(`<!-- Written by hack/generate.sh. Do not edit. -->

# What can go wrong, and how you learn of it

Each row is played by a test: in simulated time through the refresh loop and the alerts' own rules or, where a test is named, in parts
and on a real control plane.
"No alert" means that none fires until then. Each alert has a [runbook](../runbooks.md), each reason its [advice](conditions.md).

| what happens | what is served | condition | alert, after at most | what to do |
|---|---|---|---|---|
`)
	for _, d := range days() {
		name, condition, alert := "**"+d.Name+"**", "none", "no alert"
		if d.Test != "" {
			name += " (`" + d.Test + "`)"
		}
		if len(d.Conditions) > 0 {
			var all []string
			for _, kind := range slices.Sorted(maps.Keys(d.Conditions)) {
				all = append(all, "`"+kind+"`: `"+d.Conditions[kind]+"`")
			}
			condition = strings.Join(all, ", ")
		}
		if d.State != "" {
			condition += "; state `" + d.State + "`"
		}
		if d.Alert != "" {
			alert = fmt.Sprintf("[%s](../runbooks.md#%s), %s", d.Alert, strings.ToLower(d.Alert),
				humanize.Span(d.Within.Round(time.Minute)))
		}
		fmt.Fprintf(&out, "| %s: %s | %s | %s | %s | %s |\n", name, d.Happens, d.Served, condition,
			alert, cmp.Or(d.Do, "nothing"))
	}
	return out.String()
}

// starts returns days on which Forewarm starts or a Forecast is new, and days with two mistakes at the same time.
func starts() []day {
	return []day{
		{
			Name: "Forewarm restarts while the source is away", Happens: "a drain or an upgrade during the outage",
			fail: unavailable, restart: 2 * minute,
			After:  10 * minute,
			Served: "nothing by the new replica. It is not ready for ten minutes, so a rollout keeps the old one",
			State:  "Pending", Conditions: map[string]string{"SourceHealthy": "Unavailable"}, Alert: notServed,
			Within: 10 * minute, Do: "restore the source",
		},
		{
			Name: "A typo in a query", Happens: "a new Forecast, or a change of its query, that the source refuses",
			fail:    func(time.Duration) error { return fmt.Errorf("%w: parse error", series.ErrQuery) },
			restart: minute,
			After:   10 * minute, Served: "nothing", State: "Pending",
			Conditions: map[string]string{"SourceHealthy": "QueryRefused"}, Alert: notServed, Within: 10 * minute,
			Do: "correct the query",
		},
		{
			Name: "Two at once", Happens: "the demand reads 0 while the source comes and goes",
			demand: times(0, forEver), fail: comesAndGoes,
			After: 48 * minute, least: 0.55, most: 1.2, Served: "as at a false zero",
			Conditions: map[string]string{data: "OutageSuspected", "SourceHealthy": "Unavailable"}, Alert: suspect,
			Within: 25 * minute, Do: "restore the source first",
		},
	}
}

// downtimes returns days on which Forewarm or its Forecast was missing.
func downtimes() []day {
	return []day{
		{
			Name: "All replicas are drained", Happens: "both at once, for twenty minutes",
			restart: 20 * minute, down: true,
			After: 21 * minute, least: 0.9, most: 1.2,
			Served: "nothing meanwhile, and the HPA keeps its replicas; then as before",
			Do:     "nothing; a PodDisruptionBudget prevents it",
		},
		{
			Name:    "A week of downtime",
			Happens: "Forewarm was scaled to zero, and its own certificates have expired; it renews them as it starts",
			restart: 7 * 24 * time.Hour, down: true,
			After: 7*24*time.Hour + minute, least: 0.9, most: 1.2, Served: "as before, from the first minute on",
		},
		{
			Name:    "A namespace is created again",
			Happens: "deleted with its Forecast, and made again with the same names ten minutes later",
			demand:  times(math.NaN(), 10*minute), gone: 10 * minute,
			After: 12 * minute, least: 0.9, most: 1.2,
			Served: "as before: the source still has the history of these names. The lead time is measured again",
		},
		{
			Name:    "etcd is restored to yesterday",
			Happens: "the Forecast has its generation, its spec and its measured starts of yesterday",
			change: func(t *refresh.Job, now time.Time) {
				if now.Before(event()) {
					t.Generation, t.Lead, t.Settings.Lead = 2, 6*minute, 6*minute
				}
			},
			After: 2 * minute, least: 0.8, most: 1.2, Served: "what yesterday's spec asks for",
			Do: "apply the newest spec again",
		},
	}
}

// inACluster returns the days that other tests run on a real control plane.
func inACluster() []day { return append(replicasAndObjects(), refusedObjects()...) }

// replicasAndObjects returns the days about Forewarm's own replicas and about the objects next to a Forecast.
func replicasAndObjects() []day {
	return []day{
		{
			Name:       "The API is not reached",
			Happens:    "a NetworkPolicy, an expired certificate: the APIService is not available",
			Served:     "nothing reaches the HPAs, which keep their replicas",
			Conditions: map[string]string{"Reachable": "APIServiceUnavailable"}, Alert: "ForewarmAPIGroupLost",
			Within: 5 * minute, Do: "`kubectl describe apiservice` has the error",
			Test: "TestConditionSaysWhoHoldsWhat",
		},
		{
			Name: "A replica's clock is off", Happens: "by two minutes, on the node of one of Forewarm's replicas",
			Served:     "another value by that replica: an HPA reads one or the other",
			Conditions: map[string]string{"ReplicasAgree": "ClocksDiffer"}, Alert: "ForewarmReplicasDiffer",
			Within: 21 * minute, Do: "synchronize the clocks of the nodes (NTP)", Test: "TestReplicasThatDiffer",
		},
		{
			Name:       "Replicas run with other flags",
			Happens:    "another `--season` or version: a rollout that does not end",
			Served:     "another value by the replicas of each side",
			Conditions: map[string]string{"ReplicasAgree": "SettingsDiffer"},
			Alert:      "ForewarmReplicasDiffer",
			Within:     16 * minute,
			Do:         "end the rollout, or undo it",
			Test:       "TestReplicasThatDiffer",
		},
		{
			Name: "A certificate of your own ends", Happens: "cert-manager or an existing Secret was not renewed",
			Served: "as before", Alert: "ForewarmCertificateEnds", Within: 15 * minute, Do: "renew it",
			Test: "TestFilesHaveAnEnd",
		},
		{
			Name: "A Forecast is deleted under its HPA", Happens: "or renamed: the HPA names one that is not there",
			Served: "nothing, and the HPA keeps its replicas", Alert: "ForewarmForecastMissing", Within: 10 * minute,
			Do: "create it again, or write the new name into the HPA", Test: "TestCluster",
		},
		{
			Name: "Replicas do not come", Happens: "no GPU is to be had, or a rollout is stuck",
			Served: "what the demand needs", Alert: "ForewarmReplicasNotReady", Within: 35 * minute,
			Do: "`kubectl get pods`: which are pending, and why", Test: "TestCluster",
		},
		{
			Name: "Replicas start more slowly", Happens: "a larger image, a slower disk",
			Served: "more, further ahead", Alert: "ForewarmLeadTimeJumped", Within: 15 * minute,
			Do: "find why. If it was an accident, reset the record", Test: "TestAlerts",
		},
	}
}

// refusedObjects returns the days about objects that the API server does not store as they were sent.
func refusedObjects() []day {
	return []day{
		{
			Name: "The API server refuses a status",
			Happens: "the object is too large for etcd, or an admission policy, a webhook or " +
				"an older schema refuses it",
			Served: "the demand. The lead time of this Forecast is not measured any more; the statuses of all other objects are " +
				"written in time",
			Do: "the event `StatusNotWritten` of the object, the log and `forewarm_status_refused_objects` have the cause: correct the " +
				"object or the policy. Forewarm tries again within five minutes",
			Test: "TestCluster/RefusedStatusesDelayNoOthers",
		},
		{
			Name: "The CRDs are rolled back",
			Happens: "to a version without a field that a Forecast has: the API server hides the field, " +
				"and deletes it with the next write to the object, also with one to its status",
			Served:     "what the spec without the field asks for",
			Conditions: map[string]string{"SpecKnown": "FieldsDropped"},
			Do:         "upgrade the CRDs, and apply the object [again](../upgrades.md#roll-back)",
			Test:       "TestCluster/ARollbackOfTheSchemaIsSaid",
		},
	}
}

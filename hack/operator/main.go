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

A test plays each row in simulated time, with Forewarm's refresh loop and the rules of the alerts. If the row contains the name of a test,
that test plays it instead, in parts and on a real control plane.

"No alert" means that no alert fires during the test. Each alert has a [runbook](../runbooks.md), and the page about
[conditions](conditions.md) says what to do for each reason.

| what happens | what Forewarm serves | condition | alert, and the longest time until it fires | what to do |
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
			Name:    "Forewarm restarts while the source is down",
			Happens: "a node is drained, or Forewarm is upgraded, during the outage",
			fail:    unavailable, restart: 2 * minute,
			After:  10 * minute,
			Served: "nothing from the new replica. It is not ready for ten minutes, so a rollout keeps the old replica",
			State:  "Pending", Conditions: map[string]string{"SourceHealthy": "Unavailable"}, Alert: notServed,
			Within: 10 * minute, Do: "restore the source",
		},
		{
			Name: "A typo in a query", Happens: "the source refuses the query of a new or changed Forecast",
			fail:    func(time.Duration) error { return fmt.Errorf("%w: parse error", series.ErrQuery) },
			restart: minute,
			After:   10 * minute, Served: "nothing", State: "Pending",
			Conditions: map[string]string{"SourceHealthy": "QueryRefused"}, Alert: notServed, Within: 10 * minute,
			Do: "correct the query",
		},
		{
			Name:    "Two failures at the same time",
			Happens: "the measured demand is 0, and the source fails again and again",
			demand:  times(0, forEver), fail: comesAndGoes,
			After: 48 * minute, least: 0.55, most: 1.2, Served: "the same as for a false zero",
			Conditions: map[string]string{data: "OutageSuspected", "SourceHealthy": "Unavailable"}, Alert: suspect,
			Within: 25 * minute, Do: "restore the source first",
		},
	}
}

// downtimes returns days on which Forewarm or its Forecast was missing.
func downtimes() []day {
	return []day{
		{
			Name: "All replicas are drained", Happens: "both replicas of Forewarm are away for the same twenty minutes",
			restart: 20 * minute, down: true,
			After: 21 * minute, least: 0.9, most: 1.2,
			Served: "nothing meanwhile, and the HPA keeps its replicas; then the same as before",
			Do:     "nothing. To prevent it, use a PodDisruptionBudget",
		},
		{
			Name:    "A week of downtime",
			Happens: "Forewarm was scaled to zero, and its certificates expired. It renews them when it starts",
			restart: 7 * 24 * time.Hour, down: true,
			After: 7*24*time.Hour + minute, least: 0.9, most: 1.2, Served: "the same as before, from the first minute",
		},
		{
			Name:    "A namespace is deleted and created again",
			Happens: "it is created with the same Forecast ten minutes after both were deleted",
			demand:  times(math.NaN(), 10*minute), gone: 10 * minute,
			After: 12 * minute, least: 0.9, most: 1.2,
			Served: "the same as before, because the source still has the history. Forewarm measures the lead " +
				"time from scratch",
		},
		{
			Name:    "etcd is restored from yesterday's backup",
			Happens: "the Forecast has yesterday's generation, spec and measured starts",
			change: func(t *refresh.Job, now time.Time) {
				if now.Before(event()) {
					t.Generation, t.Lead, t.Settings.Lead = 2, 6*minute, 6*minute
				}
			},
			After: 2 * minute, least: 0.8, most: 1.2, Served: "the value that yesterday's spec specifies",
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
			Name:       "The kube-apiserver cannot reach Forewarm",
			Happens:    "the APIService is not available because of a NetworkPolicy or an expired certificate",
			Served:     "no value reaches the HPAs, so they keep their replicas",
			Conditions: map[string]string{"Reachable": "APIServiceUnavailable"}, Alert: "ForewarmAPIGroupLost",
			Within: 5 * minute, Do: "see the error in `kubectl describe apiservice`",
			Test: "TestConditionSaysWhoHoldsWhat",
		},
		{
			Name:       "The clock of a replica is wrong",
			Happens:    "the clock differs by two minutes on the node of one of Forewarm's replicas",
			Served:     "that replica serves a different value, and an HPA reads either value",
			Conditions: map[string]string{"ReplicasAgree": "ClocksDiffer"}, Alert: "ForewarmReplicasDiffer",
			Within: 21 * minute, Do: "synchronize the clocks of the nodes (NTP)", Test: "TestReplicasThatDiffer",
		},
		{
			Name:       "Replicas run with different flags",
			Happens:    "a rollout does not end, so some replicas have another `--season` or version",
			Served:     "old and new replicas serve different values",
			Conditions: map[string]string{"ReplicasAgree": "SettingsDiffer"},
			Alert:      "ForewarmReplicasDiffer",
			Within:     16 * minute,
			Do:         "complete the rollout, or undo it",
			Test:       "TestReplicasThatDiffer",
		},
		{
			Name:    "Your own certificate expires",
			Happens: "the certificate from cert-manager or in your Secret was not renewed",
			Served:  "the same as before", Alert: "ForewarmCertificateEnds", Within: 15 * minute,
			Do:   "renew the certificate",
			Test: "TestFilesHaveAnEnd",
		},
		{
			Name: "A Forecast is deleted while an HPA reads it", Happens: "the Forecast was deleted or renamed",
			Served: "nothing, and the HPA keeps its replicas", Alert: "ForewarmForecastMissing", Within: 10 * minute,
			Do: "create the Forecast again, or write its new name into the HPA", Test: "TestCluster",
		},
		{
			Name: "Replicas do not start", Happens: "no GPU is available, or a rollout is stuck",
			Served: "the value that the demand requires", Alert: "ForewarmReplicasNotReady", Within: 35 * minute,
			Do: "run `kubectl get pods` to find out which pods are pending, and why", Test: "TestCluster",
		},
		{
			Name: "Replicas start more slowly", Happens: "for example because of a larger image or a slower disk",
			Served: "a higher value, because Forewarm looks further ahead",
			Alert:  "ForewarmLeadTimeJumped", Within: 15 * minute,
			Do: "find the cause. If the slow starts were exceptional, reset the record of starts", Test: "TestAlerts",
		},
	}
}

// refusedObjects returns the days about objects that the API server does not store as they were sent.
func refusedObjects() []day {
	return []day{
		{
			Name: "The API server refuses to store a status",
			Happens: "the object is too large for etcd, or an admission policy, a webhook or " +
				"an older schema refuses it",
			Served: "the demand. Forewarm no longer measures the lead time of this Forecast. It writes the " +
				"statuses of all other objects in time",
			Do: "find the cause in the event `StatusNotWritten` of the object, in the log or with " +
				"`forewarm_status_refused_objects`, and " +
				"correct the object or the policy. Forewarm tries again within five minutes",
			Test: "TestCluster/RefusedStatusesDelayNoOthers",
		},
		{
			Name: "The CRDs are rolled back",
			Happens: "the older version does not have a field that a Forecast uses. The API server hides the field, " +
				"and deletes it with the next write to the object or its status",
			Served:     "the value that the spec without the field specifies",
			Conditions: map[string]string{"SpecKnown": "FieldsDropped"},
			Do:         "upgrade the CRDs, and apply the object [again](../upgrades.md#roll-back)",
			Test:       "TestCluster/ARollbackOfTheSchemaIsSaid",
		},
	}
}

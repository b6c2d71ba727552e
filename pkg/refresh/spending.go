package refresh

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// spending is one counter: a policy, on a variant or on the only workload, by its name.
type spending struct{ policy, variant string }

// countSpending adds the hours that have ended to the counters. Those before the first result are history.
func (w *worker) countSpending() {
	calibrator := w.forecaster.Calibrator()
	if calibrator == nil || calibrator.HourEnded().IsZero() {
		return
	}
	if w.counted.IsZero() {
		w.counted = calibrator.HourEnded()
	}
	took := calibrator.SpentSince(w.counted)
	if w.spent != nil && took.Hours == 0 {
		return
	}
	w.counted = w.counted.Add(time.Duration(took.Hours) * time.Hour)
	if w.spent = maps.Clone(w.spent); w.spent == nil { // An earlier one is published.
		w.spent = map[spending]float64{}
	}
	first := w.workloadName()
	for policy, hours := range map[string]float64{
		snapshot.PolicyServed: took.Served, snapshot.PolicyObserved: took.Observed, snapshot.PolicyBefore: took.Before,
		snapshot.PolicyHindsight: took.Hindsight,
	} {
		if policy == snapshot.PolicyServed && len(w.job.Variants) > 0 {
			continue
		}
		w.spent[spending{policy, first}] += hours
	}
	for i, hours := range w.forecaster.PaidByVariant(took.Hours) {
		w.spent[spending{snapshot.PolicyServed, w.job.Variants[i].Name}] += hours
	}
}

// workloadName is that of the Forecast's target, which is also that of its first variant.
func (w *worker) workloadName() string {
	_, name, _ := strings.Cut(w.job.Workload, "/")
	return name
}

// spentEntries are the counters in a fixed order, with the price of each.
func (w *worker) spentEntries() []snapshot.Spent {
	prices := map[string]float64{w.workloadName(): w.job.Price}
	for i := range w.job.Variants {
		prices[w.job.Variants[i].Name] = w.job.Variants[i].Price
	}
	var out []snapshot.Spent
	for of, hours := range w.spent {
		out = append(
			out,
			snapshot.Spent{Policy: of.policy, Variant: of.variant, ReplicaHours: hours, Price: prices[of.variant]},
		)
	}
	slices.SortFunc(out, func(a, b snapshot.Spent) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Variant, b.Variant))
	})
	return out
}

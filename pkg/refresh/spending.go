package refresh

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// spender is whose replica time is counted: a policy's, on a variant or on the only workload, by its name.
type spender struct{ policy, variant string }

// spending is what has been counted, with the hours that have ended by now. It is made anew when there are any, and for a worker that has
// taken it over, whose prices may be others.
func (w *worker) spending() []snapshot.Spent {
	if w.countHours() || w.spentNow == nil {
		w.spentNow = w.spentEntries()
	}
	return w.spentNow
}

// countHours adds the hours that have ended to the counters, and reports whether there are any. Those before the first result are history.
func (w *worker) countHours() bool {
	calibrator := w.forecaster.Calibrator()
	if calibrator == nil || calibrator.HourEnded().IsZero() {
		return false
	}
	if w.counted.IsZero() {
		w.counted = calibrator.HourEnded()
	}
	took := calibrator.SpentSince(w.counted)
	if w.spent != nil && took.Hours == 0 {
		return false
	}
	w.counted = w.counted.Add(time.Duration(took.Hours) * time.Hour)
	if w.spent == nil {
		w.spent = map[spender]float64{}
	}
	first := w.workloadName()
	for policy, hours := range map[string]float64{
		snapshot.PolicyServed: took.Served, snapshot.PolicyObserved: took.Observed, snapshot.PolicyBefore: took.Before,
		snapshot.PolicyHindsight: took.Hindsight,
	} {
		if policy == snapshot.PolicyServed && len(w.job.Variants) > 0 {
			continue
		}
		w.spent[spender{policy, first}] += hours
	}
	for i, hours := range w.forecaster.PaidByVariant(took.Hours) {
		w.spent[spender{snapshot.PolicyServed, w.job.Variants[i].Name}] += hours
	}
	return true
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

package capacity

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// plateaus says whether a signal stops at the capacity, as a count of what is served does (tokens per second, busy GPUs), and
// does not go on as the requests that arrive or are in flight do. Then all loads at the limit are about the same, and follow
// neither the queue nor its growth.
func plateaus(moments []moment) bool {
	const (
		least  = 30  // moments at the limit, for a spread and an order to mean anything
		narrow = 0.2 // the deviation of a load at the limit, as a share of it
		follow = 0.4 // the rank correlation from which on a load follows the queue
	)
	var limit []moment
	for _, m := range moments {
		if atLimit(m) {
			limit = append(limit, m)
		}
	}
	if len(limit) < least {
		return false
	}
	load := column(limit, func(m moment) float64 { return m.load })
	sorted := slices.Sorted(slices.Values(load))
	median := quantile(sorted, 0.5)
	calmAbove := loads(moments, func(m moment) bool { return m.state == calm && m.load > median })
	const deviations = 2.563 // from the 0.1 to the 0.9 quantile of a Gaussian
	spread := (quantile(sorted, 0.9) - quantile(sorted, 0.1)) / deviations
	return spread < narrow*median && len(calmAbove) < len(limit)/2 &&
		correlation(load, column(limit, func(m moment) float64 { return m.queue })) < follow &&
		correlation(load, column(limit, func(m moment) float64 { return m.grown })) < follow
}

func column(moments []moment, of func(moment) float64) []float64 {
	out := make([]float64, len(moments))
	for i, m := range moments {
		out[i] = of(m)
	}
	return out
}

// correlation of ranks (Spearman 1904), 0 where either does not vary.
func correlation(a, b []float64) float64 {
	r := stat.Correlation(ranks(a), ranks(b), nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

// ranks from 1 on; equals share theirs.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+1+to) / 2
		}
		from = to
	}
	return out
}

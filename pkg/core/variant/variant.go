package variant

import (
	"cmp"
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa"
)

// Most bounds the variants of one demand.
const Most = 8

// Variant is one of the workloads that serve a demand together.
type Variant struct {
	Name string
	// HPA scales it on its part; the target of its metric is what a replica sustains. ScalesToZero: it may be scaled to zero, although the
	// HPA is simulated with at least one replica.
	HPA          hpa.Spec
	ScalesToZero bool
	// Price of a replica for an hour, in any currency; 0 if there is no price.
	Price float64
	// Lead is how long its replicas take to start.
	Lead time.Duration
}

// Capacity is the demand that a replica sustains.
func (v *Variant) Capacity() float64 { return float64(v.HPA.Metrics[0].Target) / 1000 }

// floor and most return the demand that minReplicas and maxReplicas replicas sustain.
func (v *Variant) floor() float64 {
	if v.ScalesToZero {
		return 0
	}
	return v.Capacity() * float64(v.HPA.Min)
}

func (v *Variant) most() float64 { return v.Capacity() * float64(v.HPA.Max) }

// unitPrice returns the price of a unit of demand for an hour.
func (v *Variant) unitPrice() float64 { return v.Price / v.Capacity() }

// unpriced is the level of a base if the variants have no prices. It assumes that a slow variant has half the price of the first variant.
// Either all variants have prices or none.
const unpriced = 0.5

// level returns the quantile level of the recent values that the base of a slow variant covers: 1 minus the ratio of its price to the price
// of the first variant. This is the critical ratio of the newsvendor problem (Arrow, Harris & Marschak 1951). It is 0 if the variant is not
// cheaper.
func (v *Variant) level(first *Variant) float64 {
	if v.Price == 0 || first.Price == 0 {
		return unpriced
	}
	return max(0, 1-v.unitPrice()/first.unitPrice())
}

// slow reports whether a variant starts later than the first.
func (v *Variant) slow(first *Variant) bool { return v.Lead > first.Lead }

// order returns the indices of the variants in the order in which they are filled: by price, then slow before fast, then as listed.
func order(all []Variant) []int {
	out := make([]int, len(all))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int {
		first, second := &all[a], &all[b]
		switch byPrice := cmp.Compare(first.unitPrice(), second.unitPrice()); {
		case byPrice != 0 || first.slow(&all[0]) == second.slow(&all[0]):
			return byPrice
		case first.slow(&all[0]):
			return -1
		}
		return 1
	})
	return out
}

// Whole is the HPA of one workload that represents all variants. It is the HPA of the first variant, with minReplicas and maxReplicas for
// the demand that the minima and the maxima of all variants sustain. The objective is calibrated for it.
func Whole(all []Variant) hpa.Spec {
	out := all[0].HPA
	least, most := 0.0, 0.0
	for i := range all {
		least, most = least+all[i].floor(), most+all[i].most()
	}
	capacity := all[0].Capacity()
	out.Min = int32(max(least/capacity, 1))
	out.Max = int32(min(max(most/capacity, float64(out.Min)), maxReplicas))
	return out
}

// maxReplicas is the maximum number of replicas of all variants together.
const maxReplicas = 1 << 30

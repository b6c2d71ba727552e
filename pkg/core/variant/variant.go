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
	// HPA scales it on its part; its metric's target is what a replica sustains. Sleeps: it may be scaled to zero, though the HPA is
	// simulated with one replica at least.
	HPA          hpa.Spec
	ScalesToZero bool
	// Price of a replica for an hour, in any currency; 0 where none is given.
	Price float64
	// Lead is how long its replicas take to start.
	Lead time.Duration
}

// Capacity is the demand that a replica sustains.
func (v *Variant) Capacity() float64 { return float64(v.HPA.Metrics[0].Target) / 1000 }

// floor and most are what minReplicas and maxReplicas sustain.
func (v *Variant) floor() float64 {
	if v.ScalesToZero {
		return 0
	}
	return v.Capacity() * float64(v.HPA.Min)
}

func (v *Variant) most() float64 { return v.Capacity() * float64(v.HPA.Max) }

// unitPrice is that of a unit of demand.
func (v *Variant) unitPrice() float64 { return v.Price / v.Capacity() }

// unpriced is the level of a base without prices: half the price of the first variant is assumed. Prices are given for all or for none.
const unpriced = 0.5

// level is the share of the time for which a slow variant must be used to be cheaper than the first: 1 minus the ratio of their prices, the
// critical ratio of the newsvendor (Arrow, Harris & Marschak 1951). It is 0 where the variant is no cheaper.
func (v *Variant) level(first *Variant) float64 {
	if v.Price == 0 || first.Price == 0 {
		return unpriced
	}
	return max(0, 1-v.unitPrice()/first.unitPrice())
}

// slow reports whether a variant starts later than the first.
func (v *Variant) slow(first *Variant) bool { return v.Lead > first.Lead }

// order are the indices of variants as they are filled: the cheapest first and, of equals, the slow ones, and then as they are listed.
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

// Whole is the HPA of one workload that stands for all of them: that of the first variant, between the demand that the minima and that
// which the maxima sustain. An objective is calibrated for it.
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

// maxReplicas bounds those of all variants together.
const maxReplicas = 1 << 30

package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// SpotMarket is what spot costs and how often it is taken back.
type SpotMarket struct {
	// Price of a GPU for an hour on spot, in dollars.
	Price float64
	// Interruptions of a replica in an hour: 0.01 is once in a hundred hours.
	Interruptions float64
}

// ParseSpotMarket reads price=1.10,interruptions=0.01.
func ParseSpotMarket(text string) (SpotMarket, error) {
	given, err := parseFields(text, "price", "interruptions")
	if err != nil {
		return SpotMarket{}, fmt.Errorf("spot %q: %w", text, err)
	}
	var m SpotMarket
	err = parseNumbers(given,
		number{name: "price", to: &m.Price}, number{name: "interruptions", to: &m.Interruptions, zero: true})
	if err != nil {
		return SpotMarket{}, fmt.Errorf("spot %q: %w; an example, for one interruption in a hundred hours: "+
			"price=1.10,interruptions=0.01", text, err)
	}
	return m, nil
}

// Split is a fleet of which a base is on demand and what is above it on spot.
type Split struct {
	SpotMarket
	// Lead is how long a replica takes to restart.
	Lead time.Duration
	// Base is the number of replicas on demand; what the demand takes above them is on spot.
	Base float64
	// OnDemand and Spot are the GPU-hours of each, those of restarts on spot included.
	OnDemand, Spot float64
	// Restarts are the interruptions to be expected, over all.
	Restarts float64
	// Missing is the share of the fleet's replica-hours lost in restarts after interruptions.
	Missing float64
	// Dollars that it costs, and AllOnDemand what it would without spot.
	Dollars, AllOnDemand float64
}

// Saved is the share of the dollars that spot saves; less than 0 where it costs more.
func (s *Split) Saved() float64 { return 1 - s.Dollars/s.AllOnDemand }

// SplitFleet splits a fleet: up to the median of the replicas that were paid for on demand, the tail above it on spot.
//
// Replicas are those paid for in stretches of equal length, and hours the replica-hours of all of them; their GPUs are
// paid for at the shape's price. On spot a replica is interrupted at a rate r and its successor starts for a lead time L, paid for and
// not yet serving. An hour of service therefore takes 1 + rL hours of spot (each cycle serves for 1/r on average and
// starts for L: renewal reward, Ross 1970), so that with h hours in the tail
//
//	dollars = price · base hours + spot price · h · (1 + rL)
//
// and spot is worth it where spot price · (1 + rL) < price. At 40 % of the price, an interruption in a hundred hours and
// 5 minutes of lead time, a tail of 100 hours takes 100.08 hours of spot and costs 40.03 % of what it does on demand.
//
// What the model leaves out: interruptions are taken to be independent, but a market takes back many at once, which is
// why the base is on demand; and a new replica is taken to find a place at once (Mao et al. 2025, SkyServe, measure how
// often it does not).
func SplitFleet(replicas []float64, hours float64, on Shape, market SpotMarket, lead time.Duration) (Split, error) {
	sum := 0.0
	for i, n := range replicas {
		if !(n >= 0) || math.IsInf(n, 0) {
			return Split{}, fmt.Errorf("fleet: stretch %d has %v replicas, want a number of 0 or more", i, n)
		}
		sum += n
	}
	if !(sum > 0) || !(hours > 0) {
		return Split{}, errors.New("fleet: no replicas to divide between on demand and spot")
	}
	each := hours / sum // The length of a stretch.
	s := Split{SpotMarket: market, Lead: lead, Base: median(replicas)}
	base, tail := 0.0, 0.0
	for _, n := range replicas {
		base += min(n, s.Base) * each
		tail += max(n-s.Base, 0) * each
	}
	starting := tail * market.Interruptions * lead.Hours()
	s.OnDemand, s.Spot = base*on.GPUs, (tail+starting)*on.GPUs
	s.Restarts = tail * market.Interruptions
	if all := base + tail + starting; all > 0 {
		s.Missing = starting / all
	}
	s.Dollars = s.OnDemand*on.Price + s.Spot*market.Price
	s.AllOnDemand = (base + tail) * on.Hourly()
	return s, nil
}

// median is the lower one of two, so that it is a number of replicas that there were.
func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)-1)/2]
}

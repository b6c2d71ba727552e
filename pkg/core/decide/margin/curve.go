package margin

import (
	"math"
	"sort"
)

// Point is what is expected under a multiple of the spread.
type Point struct {
	K float64
	// Late is the share of the demand that is late.
	Late float64
	// Cost is the capacity paid for over the demand; NaN where nothing was seen.
	Cost float64
}

// Curve is what is expected under the multiples of a grid, which ascend; the lateness never rises. The zero Curve knows
// nothing.
type Curve struct {
	Points []Point
	// Least and Most bound the multiples that are served.
	Least, Most float64
}

// K is the multiple for an objective, the share that may be late: between two of the grid by a line over the logarithm of
// the lateness. It is no larger than what pays (Most); met says whether the objective is expected to be met.
func (c Curve) K(objective float64) (k float64, met bool) {
	k, met = c.enough(objective)
	if k > c.Most {
		return c.Most, false
	}
	return max(k, c.Least), met
}

// Cheapest is the multiple under which what is paid, with what is late at a price, is least: the price of a unit of demand
// that is late, in units of idle capacity. It is a careful one where nothing was seen to be paid.
func (c Curve) Cheapest(price float64) float64 {
	best, least := careful, math.Inf(1)
	for _, p := range c.Points {
		if loss := p.Cost + price*p.Late; loss < least {
			best, least = p.K, loss
		}
	}
	return max(best, c.Least)
}

// enough is the multiple that meets an objective, the largest of the grid where none does.
func (c Curve) enough(objective float64) (k float64, met bool) {
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].Late <= objective })
	switch i {
	case 0:
		return c.Points[0].K, true
	case len(c.Points):
		return c.Points[i-1].K, false
	}
	low, high := c.Points[i-1], c.Points[i]
	above, below := math.Log(low.Late+leastLate), math.Log(high.Late+leastLate)
	part := (above - math.Log(objective+leastLate)) / (above - below)
	return low.K + min(max(part, 0), 1)*(high.K-low.K), true
}

// At is what is expected under any multiple: between two of the grid the lateness by a line over its logarithm, the cost by
// one over itself; beyond the grid that of its edge.
func (c Curve) At(k float64) Point {
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].K >= k })
	switch i {
	case 0:
		return c.Points[0]
	case len(c.Points):
		return c.Points[i-1]
	}
	low, high := c.Points[i-1], c.Points[i]
	part := (k - low.K) / (high.K - low.K)
	late := math.Log(low.Late+leastLate) + part*(math.Log(high.Late+leastLate)-math.Log(low.Late+leastLate))
	return Point{K: k, Late: max(math.Exp(late)-leastLate, 0), Cost: low.Cost + part*(high.Cost-low.Cost)}
}

// worth is the largest multiple that pays: beyond it lateness falls by less than thrift times what the cost rises by, both
// as ratios. Where bursts are faster than pods start, margin buys next to nothing however large it is, and all of a fleet's
// idle hours would go to the workload that gains least from them.
func (c Curve) worth() float64 {
	best, least := c.Points[len(c.Points)-1].K, math.Inf(1)
	for _, p := range c.Points {
		if !(p.Cost > 0) {
			return best
		}
		if loss := math.Log(p.Late+leastWorth) + thrift*math.Log(p.Cost); loss < least {
			best, least = p.K, loss
		}
	}
	return best
}

package objective

import (
	"math"
	"sort"
)

// Point is what is expected under a headroom multiplier.
type Point struct {
	Multiplier float64
	// Late is the share of the demand that is late.
	Late float64
	// RelativeCost is the capacity paid for over the demand; NaN before anything is observed.
	RelativeCost float64
}

// Curve is what is expected under the multipliers of a grid. Multipliers ascend and lateness never rises.
type Curve struct {
	Points []Point
	// Max bounds the multiplier that is served.
	Max float64
}

// forObjective is the multiplier for an objective, the share that may be late, log-linear in lateness between the grid's
// points. It is at most Max; met reports whether the objective is expected to be met.
func (c Curve) forObjective(objective float64) (k float64, met bool) {
	k, met = c.meeting(objective)
	if k > c.Max {
		return c.Max, false
	}
	return k, met
}

// forTarget is the multiplier for the target that an objective is corrected to. It costs at most maxCorrection times what the
// objective's own multiplier costs: a correction is for small errors that last.
func (c Curve) forTarget(objective, target float64) float64 {
	own, _ := c.forObjective(objective)
	k, _ := c.forObjective(target)
	most := maxCorrection * c.At(own).RelativeCost
	for i := 1; i < len(c.Points); i++ {
		low, high := c.Points[i-1], c.Points[i]
		if high.Multiplier > own && high.RelativeCost > most {
			part := (most - low.RelativeCost) / (high.RelativeCost - low.RelativeCost)
			return min(k, max(own, low.Multiplier+part*(high.Multiplier-low.Multiplier)))
		}
	}
	return k
}

// forPrice is the multiplier of the lowest cost plus price × lateness, where the price of a unit of late demand is in units of
// idle capacity.
func (c Curve) forPrice(price float64) float64 {
	best, least := unpricedMultiplier, math.Inf(1)
	for _, p := range c.Points {
		if loss := p.RelativeCost + price*p.Late; loss < least {
			best, least = p.Multiplier, loss
		}
	}
	return best
}

// meeting is the multiplier that meets an objective; the largest of the grid if none does.
func (c Curve) meeting(objective float64) (k float64, met bool) {
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].Late <= objective })
	switch i {
	case 0:
		return c.Points[0].Multiplier, true
	case len(c.Points):
		return c.Points[i-1].Multiplier, false
	}
	low, high := c.Points[i-1], c.Points[i]
	above, below := math.Log(low.Late+minLate), math.Log(high.Late+minLate)
	part := (above - math.Log(objective+minLate)) / (above - below)
	return low.Multiplier + min(max(part, 0), 1)*(high.Multiplier-low.Multiplier), true
}

// At is what is expected under any multiplier: between the grid's points lateness is log-linear and cost linear; outside the
// grid it is that of the edge.
func (c Curve) At(k float64) Point {
	i := sort.Search(len(c.Points), func(i int) bool { return c.Points[i].Multiplier >= k })
	switch i {
	case 0:
		return c.Points[0]
	case len(c.Points):
		return c.Points[i-1]
	}
	low, high := c.Points[i-1], c.Points[i]
	part := (k - low.Multiplier) / (high.Multiplier - low.Multiplier)
	late := math.Log(low.Late+minLate) + part*(math.Log(high.Late+minLate)-math.Log(low.Late+minLate))
	return Point{
		Multiplier:   k,
		Late:         max(math.Exp(late)-minLate, 0),
		RelativeCost: low.RelativeCost + part*(high.RelativeCost-low.RelativeCost),
	}
}

// maxWorthwhile is the largest multiplier that pays: beyond it lateness falls by less than minPayoff times what cost rises by,
// in logarithms. Where bursts are faster than pods start, more headroom gains almost nothing.
func (c Curve) maxWorthwhile() float64 {
	best, least := c.Points[len(c.Points)-1].Multiplier, math.Inf(1)
	for _, p := range c.Points {
		if !(p.RelativeCost > 0) {
			return best
		}
		if loss := math.Log(p.Late+negligibleLate) + minPayoff*math.Log(p.RelativeCost); loss < least {
			best, least = p.Multiplier, loss
		}
	}
	return best
}

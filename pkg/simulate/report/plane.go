package report

import (
	"math"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// plane is where cost is drawn against lateness: to the right the logarithm of the share that was late, upwards the cost.
type plane struct {
	// least and most are the shares between which the axis is logarithmic; what is less late stands at its left end.
	least, most float64
	// low and high are the costs at the bottom and at the top.
	low, high float64
}

const (
	// leastShare is told from none.
	leastShare = 1e-4
	// none is the width of the axis left of the least share, for what was not late at all.
	none = 0.1
)

// newPlane spans the policies and the objective; of their frontiers, what is neither much later nor much dearer than the
// policies themselves. False where there is nothing to draw.
func newPlane(c *compare.Comparison) (plane, bool) {
	p := plane{least: 0.1, low: math.Inf(1), high: math.Inf(-1)}
	p.see(c.Assumptions.Objective)
	for i := range c.Policies {
		own := &c.Policies[i].Report
		if cost := own.Cost(); figures.Known(cost) {
			p.see(own.LateShare())
			p.low, p.high = min(p.low, cost), max(p.high, cost)
		}
	}
	if math.IsInf(p.low, 0) {
		return p, false
	}
	latest, dearest := max(2*p.most, 10*c.Assumptions.Objective), 1.2*p.high
	for i := range c.Policies {
		for _, at := range c.Policies[i].Frontier {
			if at.Late <= latest && at.Cost <= dearest {
				p.see(at.Late)
				p.low, p.high = min(p.low, at.Cost), max(p.high, at.Cost)
			}
		}
	}
	p.least = math.Pow(10, math.Floor(math.Log10(max(p.least, leastShare))))
	p.most = min(1, max(1.3*p.most, 10*p.least))
	room := 0.08 * max(p.high-p.low, 0.1)
	p.low, p.high = p.low-room, p.high+room
	return p, figures.Known(p.high - p.low)
}

// see widens the axis of the shares; what is not late at all has its own place.
func (p *plane) see(late float64) {
	if late > 0 && figures.Known(late) {
		p.least, p.most = min(p.least, late), max(p.most, late)
	}
}

// x is from 0 at the left to 1.
func (p *plane) x(late float64) float64 {
	if !(late >= p.least) {
		return none / 4
	}
	late = min(late, p.most)
	return none + (1-none)*math.Log(late/p.least)/math.Log(p.most/p.least)
}

// y is from 0 at the bottom to 1.
func (p *plane) y(cost float64) float64 { return (cost - p.low) / (p.high - p.low) }

// holds says whether a point is on the plane.
func (p *plane) holds(at compare.Point) bool {
	return figures.Known(at.Late) && at.Late <= p.most && at.Cost >= p.low && at.Cost <= p.high
}

// shares are the marks on the axis of lateness.
func (p *plane) shares() []ticks.Tick {
	out := []ticks.Tick{{Value: 0, Label: "0"}}
	return append(out, ticks.Shares(p.least, p.most)...)
}

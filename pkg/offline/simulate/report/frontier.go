package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// plane is where cost is drawn against lateness: to the right the logarithm of the share that was late, upwards the cost.
type plane struct{ x, y chart.Axis }

// newPlane spans the policies and the objective; of their frontiers, what is neither much later nor much dearer than the
// policies themselves. False where there is nothing to draw.
func newPlane(c *compare.Comparison) (plane, bool) {
	// leastShare is told from none.
	const leastShare = 1e-4
	p := plane{chart.Axis{From: 0.1}, chart.Axis{From: math.Inf(1), To: math.Inf(-1)}}
	p.seeLate(c.Assumptions.Objective)
	for i := range c.Policies {
		if at := played(&c.Policies[i]); humanize.Known(at.Cost) {
			p.see(at)
		}
	}
	if math.IsInf(p.y.From, 0) {
		return p, false
	}
	latest, dearest := max(2*p.x.To, 10*c.Assumptions.Objective), 1.2*p.y.To
	for i := range c.Policies {
		for _, at := range c.Policies[i].Frontier {
			if at.Late <= latest && at.Cost <= dearest {
				p.see(at)
			}
		}
	}
	least := math.Pow(10, math.Floor(math.Log10(max(p.x.From, leastShare))))
	p.x = chart.Lateness(least, min(1, max(1.3*p.x.To, 10*least)))
	room := 0.08 * max(p.y.To-p.y.From, 0.1)
	p.y = chart.Numbers(p.y.From-room, p.y.To+room)
	return p, humanize.Known(p.y.To - p.y.From)
}

// played is where a policy itself is.
func played(p *compare.Policy) compare.Point {
	return compare.Point{Late: p.Report.LateShare(), Cost: p.Report.Cost()}
}

// see widens the plane.
func (p *plane) see(at compare.Point) {
	p.seeLate(at.Late)
	p.y.From, p.y.To = min(p.y.From, at.Cost), max(p.y.To, at.Cost)
}

// seeLate widens the axis of the shares; what is not late at all has its own place.
func (p *plane) seeLate(late float64) {
	if late > 0 && humanize.Known(late) {
		p.x.From, p.x.To = min(p.x.From, late), max(p.x.To, late)
	}
}

// holds says whether a point is on the plane.
func (p *plane) holds(at compare.Point) bool {
	return humanize.Known(at.Late) && at.Late <= p.x.To && at.Cost >= p.y.From && at.Cost <= p.y.To
}

// frontier is the drawing of cost against lateness, with the policies that are on it.
type frontier struct {
	*chart.Chart

	Points []row
}

// newFrontier is nil where there is nothing to draw.
func newFrontier(c *compare.Comparison) *frontier {
	on, ok := newPlane(c)
	if !ok {
		return nil
	}
	f := &frontier{Chart: &chart.Chart{
		ID: "frontier", Title: "Cost over demand against the share of the demand that was late",
		X: on.x, Y: on.y, Tall: 300, Across: 1000, Up: 1000,
	}}
	f.X.Label = "late, of the demand (logarithmic)"
	f.objective(c.Assumptions.Objective)
	said := make([]string, 0, len(c.Policies))
	for i := range c.Policies {
		p := &c.Policies[i]
		line := make([]chart.Point, len(p.Frontier))
		for j, at := range p.Frontier {
			line[j] = chart.Point{X: at.Late, Y: at.Cost}
			if !on.holds(at) {
				line[j].Y = math.NaN()
			}
		}
		f.Line("curve "+class(p.Name), line...)
		at := played(p)
		if !on.holds(at) {
			continue
		}
		r := newRow(p)
		says := fmt.Sprintf("%s: %s late at a cost of %s", r.Policy, humanize.Share(at.Late), decimal(at.Cost, 2))
		f.Badge(chart.Badge{Class: r.Class, Letter: r.Mark, Says: says}, chart.Point{X: at.Late, Y: at.Cost})
		f.Points, said = append(f.Points, r), append(said, says)
	}
	f.Description = strings.Join(said, "; ") + "."
	return f
}

// objective shades what misses it. Its words stand before it where there is no room behind it.
func (f *frontier) objective(share float64) {
	x, y := f.X, f.Y
	f.Box("missed", chart.Point{X: share, Y: y.From}, chart.Point{X: x.To, Y: y.To})
	f.Line("objective", chart.Point{X: share, Y: y.From}, chart.Point{X: share, Y: y.To})
	below := chart.Point{X: share, Y: y.To - 0.065*(y.To-y.From)}
	f.Note("", below, "objective "+humanize.Asked(share), x.At(share) > 0.7)
}

// writeFrontier draws the cost against the lateness in characters: a capital for each policy, small letters for its other
// settings. What matters most is drawn last: the policies over the objective over the other settings.
func writeFrontier(out *bytes.Buffer, c *compare.Comparison, width int) {
	// mostColumns is a width beyond which the chart gains nothing.
	const mostColumns, lines = 100, 16
	on, ok := newPlane(c)
	if !ok {
		return
	}
	cells := chart.NewCells(on.x, on.y, min(width, mostColumns), lines)
	put := func(at compare.Point, letter string) {
		if sign, _ := utf8.DecodeRuneInString(letter); on.holds(at) {
			cells.Put(chart.Point{X: at.Late, Y: at.Cost}, sign)
		}
	}
	for i := range c.Policies {
		for _, at := range c.Policies[i].Frontier {
			put(at, strings.ToLower(mark(c.Policies[i].Name)))
		}
	}
	cells.Rule(c.Assumptions.Objective)
	key := make([]string, len(c.Policies))
	for i := range c.Policies {
		name := c.Policies[i].Name
		put(played(&c.Policies[i]), mark(name))
		key[i] = mark(name) + " " + name
	}
	out.WriteByte('\n')
	paragraph(out, "Cost over demand, upwards, against the share that was late, to the right", width)
	out.WriteString(cells.String())
	paragraph(out, strings.Join(key, ", ")+"; in small letters, their other settings; ┊ the objective.", width)
}

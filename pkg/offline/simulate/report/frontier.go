package report

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/report"
)

// frontierAxes are the axes of the plot of cost against lateness. The x-axis is the logarithm of the share that was late (or in bad hours),
// and the y-axis is the cost.
type frontierAxes struct{ x, y chart.Axis }

// newFrontierAxes returns axes that contain the policies, the objective, and the points of the frontiers that are not much later or much
// more expensive than the policies themselves. It returns false if there is nothing to draw.
func newFrontierAxes(c *compare.Comparison) (frontierAxes, bool) {
	// minShare is the smallest share that is distinguished from 0.
	const minShare = 1e-4
	p := frontierAxes{chart.Axis{From: 0.1}, chart.Axis{From: math.Inf(1), To: math.Inf(-1)}}
	p.includeLate(c.Assumptions.Objective)
	for i := range c.Policies {
		if at := pointOf(c, &c.Policies[i]); humanize.Known(at.RelativeCost) {
			p.include(at)
		}
	}
	if math.IsInf(p.y.From, 0) {
		return p, false
	}
	latest, maxCost := max(2*p.x.To, 10*c.Assumptions.Objective), 1.2*p.y.To
	for i := range c.Policies {
		for _, at := range c.Policies[i].Frontier {
			if at.Late <= latest && at.RelativeCost <= maxCost {
				p.include(at)
			}
		}
	}
	least := math.Pow(10, math.Floor(math.Log10(max(p.x.From, minShare))))
	p.x = chart.LatenessAxis(least, min(1, max(1.3*p.x.To, 10*least)))
	room := 0.08 * max(p.y.To-p.y.From, 0.1)
	p.y = chart.NumberAxis(p.y.From-room, p.y.To+room)
	return p, humanize.Known(p.y.To - p.y.From)
}

// pointOf returns the point of the policy itself.
func pointOf(c *compare.Comparison, p *compare.PolicyResult) compare.Point {
	return compare.Point{Late: p.Report.WorstShare(c.Assumptions.BadHours), RelativeCost: p.Report.RelativeCost()}
}

// include extends the axes to a point.
func (p *frontierAxes) include(at compare.Point) {
	p.includeLate(at.Late)
	p.y.From, p.y.To = min(p.y.From, at.RelativeCost), max(p.y.To, at.RelativeCost)
}

// includeLate extends the axis of the shares. A share of zero has a separate place.
func (p *frontierAxes) includeLate(late float64) {
	if late > 0 && humanize.Known(late) {
		p.x.From, p.x.To = min(p.x.From, late), max(p.x.To, late)
	}
}

// holds reports whether a point is within the axes.
func (p *frontierAxes) holds(at compare.Point) bool {
	return humanize.Known(at.Late) && at.Late <= p.x.To && at.RelativeCost >= p.y.From && at.RelativeCost <= p.y.To
}

// frontier is the drawing of cost against lateness, with the policies that are on it.
type frontier struct {
	*chart.Chart

	Points []chart.Badge
}

// newFrontier returns the drawing; nil if there is nothing to draw.
func newFrontier(c *compare.Comparison) *frontier {
	on, ok := newFrontierAxes(c)
	if !ok {
		return nil
	}
	f := &frontier{Chart: &chart.Chart{
		ID: "frontier", Title: "Relative cost against the share of " + c.Assumptions.LimitedDemand(),
		X: on.x, Y: on.y, Tall: 300, Across: 1000, Up: 1000,
	}}
	f.X.Label = c.Assumptions.LimitedDemand() + " (logarithmic)"
	f.objective(c.Assumptions.Objective)
	said := make([]string, 0, len(c.Policies))
	for i := range c.Policies {
		p := &c.Policies[i]
		line := make([]chart.Point, len(p.Frontier))
		for j, at := range p.Frontier {
			line[j] = chart.Point{X: at.Late, Y: at.RelativeCost}
			if !on.holds(at) {
				line[j].Y = math.NaN()
			}
		}
		f.Line("curve "+class(p.Name), line...)
		at := pointOf(c, p)
		if !on.holds(at) {
			continue
		}
		says := fmt.Sprintf("%s: %s %s at a relative cost of %s", p.Name, humanize.Share(at.Late),
			c.Assumptions.LimitedWord(), formatDecimal(at.RelativeCost, 2))
		badge := chart.Badge{Class: class(p.Name), Letter: mark(p.Name), Title: says}
		f.Badge(badge, chart.Point{X: at.Late, Y: at.RelativeCost})
		badge.Title = p.Name
		f.Points, said = append(f.Points, badge), append(said, says)
	}
	f.Description = strings.Join(said, "; ") + "."
	return f
}

// objective shades the area in which the objective is missed. Its label is on the left if there is no room on the right.
func (f *frontier) objective(share float64) {
	x, y := f.X, f.Y
	f.Box("missed", chart.Point{X: share, Y: y.From}, chart.Point{X: x.To, Y: y.To})
	f.Line("objective", chart.Point{X: share, Y: y.From}, chart.Point{X: share, Y: y.To})
	below := chart.Point{X: share, Y: y.To - 0.065*(y.To-y.From)}
	f.Note("", below, "objective "+humanize.ShareAsWritten(share), x.At(share) > 0.7)
}

// frontierSection draws the cost against the lateness with characters: a capital letter for each policy, and small letters for its other
// settings. The most important marks are drawn last: the policies above the objective, and the objective above the other settings.
func frontierSection(c *compare.Comparison, width int) report.Section {
	// maxColumns is a width beyond which the chart gains nothing.
	const maxColumns, lines = 100, 16
	on, ok := newFrontierAxes(c)
	if !ok {
		return report.Section{}
	}
	cells := chart.NewCells(on.x, on.y, min(width, maxColumns), lines)
	put := func(at compare.Point, letter string) {
		if sign, _ := utf8.DecodeRuneInString(letter); on.holds(at) {
			cells.Put(chart.Point{X: at.Late, Y: at.RelativeCost}, sign)
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
		put(pointOf(c, &c.Policies[i]), mark(name))
		key[i] = mark(name) + " " + name
	}
	return report.Section{
		Sentences: []string{
			"Relative cost (vertical) and the share of " + c.Assumptions.LimitedDemand() + " (horizontal)",
		},
		Drawing: cells.String(),
		Notes: []string{
			strings.Join(
				key,
				", ",
			) + ". Lowercase letters are the same policies with other settings. ┊ is the objective.",
		},
	}
}

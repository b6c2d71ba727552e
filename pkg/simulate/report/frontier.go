package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
	"github.com/forewarm/forewarm/pkg/ticks"
)

// frontierTall is the height of its drawing in pixels.
const frontierTall = 300

// frontier is the drawing of cost against lateness.
type frontier struct {
	Title, Description string
	// Objective is where it stands from the left, Missed the same in thousandths, Asked what it is; its words stand before
	// it where there is no room behind it.
	Objective, Missed, Asked string
	Before                   bool
	// Curves are the policies at other settings, Points the policies themselves.
	Curves []curve
	Points []badge
	Shares []label
	Costs  []label
}

// curve is a line through the settings of a policy, in thousandths of the plane's width and height from its left top.
type curve struct{ Class, Path string }

// newFrontier is nil where there is nothing to draw.
func newFrontier(c *compare.Comparison) *frontier {
	on, ok := newPlane(c)
	if !ok {
		return nil
	}
	at := on.x(c.Assumptions.Objective)
	f := &frontier{
		Title:     "Cost over demand against the share of the demand that was late",
		Asked:     figures.Asked(c.Assumptions.Objective),
		Objective: hundredths(at),
		Missed:    decimal(tall*at, 1),
		Before:    at > 0.7,
		Shares:    shares(&on),
		Costs:     costs(&on),
	}
	said := make([]string, 0, len(c.Policies))
	for i := range c.Policies {
		p := &c.Policies[i]
		if path := on.path(p.Frontier); path != "" {
			f.Curves = append(f.Curves, curve{class(p.Name), path})
		}
		if b, drawn := newBadge(&on, p); drawn {
			f.Points = append(f.Points, b)
			said = append(said, b.Says)
		}
	}
	spread(f.Points)
	f.Description = strings.Join(said, "; ") + "."
	return f
}

// badge is a policy's letter and the point that it belongs to: X from the left, Y in pixels from the top. The letter
// stands aside by DX pixels where points are close.
type badge struct {
	Class, Letter, Policy, Says string
	X, Y, DX                    string
	Aside                       bool

	x, y, dx float64 // X is a share of the width.
	placed   bool
}

func newBadge(on *plane, p *compare.Policy) (badge, bool) {
	at := compare.Point{Late: p.Report.LateShare(), Cost: p.Report.Cost()}
	if !on.holds(at) {
		return badge{}, false
	}
	b := badge{
		Class: class(p.Name), Letter: mark(p.Name), Policy: plain(p.Name),
		x: on.x(at.Late), y: margin + frontierTall*(1-on.y(at.Cost)),
	}
	b.Says = fmt.Sprintf("%s: %s late at a cost of %s", b.Policy, figures.Share(at.Late), decimal(at.Cost, 2))
	b.X, b.Y = hundredths(b.x), decimal(b.y, 1)
	return b, true
}

// spread sets letters aside, to the left or to the right of their points, so that they hide neither each other nor other
// points, be the page narrow or wide. Those that are told last, forewarm among them, are the last to give way.
func spread(all []badge) {
	const step = 24
	for i := len(all) - 1; i >= 0; i-- {
		b := &all[i]
		for _, dx := range []float64{0, step, -step, 2 * step, -2 * step, 3 * step, -3 * step, 4 * step, -4 * step} {
			if free(all, i, dx) {
				b.dx = dx
				break
			}
		}
		b.placed, b.Aside = true, b.dx != 0
		b.DX = strconv.FormatFloat(b.dx, 'f', 0, 64)
	}
}

// free says whether a letter that is set aside so far hides nothing.
func free(all []badge, i int, dx float64) bool {
	const apart, radius = 21, 14
	for _, wide := range []float64{360, 1060} {
		at := wide*all[i].x + dx
		if at < 0 || at > wide {
			return false
		}
		for j := range all {
			if j == i {
				continue
			}
			o := &all[j]
			if o.placed && math.Hypot(at-wide*o.x-o.dx, all[i].y-o.y) < apart ||
				math.Hypot(at-wide*o.x, all[i].y-o.y) < radius {
				return false
			}
		}
	}
	return true
}

// path is a line through the points that are on the plane.
func (p *plane) path(all []compare.Point) string {
	var out strings.Builder
	sign := "M"
	for _, at := range all {
		if !p.holds(at) {
			sign = "M"
			continue
		}
		fmt.Fprintf(&out, "%s%.1f %.1f", sign, tall*p.x(at.Late), tall*(1-p.y(at.Cost)))
		sign = "L"
	}
	return out.String()
}

func shares(p *plane) []label {
	var out []label
	for _, t := range p.shares() {
		out = append(out, label{At: hundredths(p.x(t.Value)), Text: t.Label})
	}
	return out
}

func costs(p *plane) []label {
	var out []label
	for _, t := range ticks.Round(p.low, p.high) {
		if y := p.y(t.Value); y < 0.96 {
			out = append(out, label{At: pixels(frontierTall, y), Text: t.Label})
		}
	}
	return out
}

package report

import (
	"fmt"
	"math"
	"strings"

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

// badge is a policy's letter, and the point that it belongs to where it had to give way to another.
type badge struct {
	Class, Letter, Policy, Says string
	X, Y, Dot                   string
	Moved                       bool

	x, y float64 // of the badge: a share of the width, pixels from the top
}

// newFrontier is nil where there is nothing to draw.
func newFrontier(c *compare.Comparison) *frontier {
	on, ok := newPlane(c)
	if !ok {
		return nil
	}
	f := &frontier{
		Title: "Cost over demand against the share of the demand that was late",
		Asked: asked(c.Assumptions.Objective), Objective: hundredths(on.x(c.Assumptions.Objective)),
		Missed: decimal(tall*on.x(c.Assumptions.Objective), 1), Before: on.x(c.Assumptions.Objective) > 0.7,
		Shares: shares(&on), Costs: costs(&on),
	}
	said := make([]string, 0, len(c.Policies))
	for i := range c.Policies {
		p := &c.Policies[i]
		if path := on.path(p.Frontier); path != "" {
			f.Curves = append(f.Curves, curve{class(p.Name), path})
		}
		if at := (compare.Point{Late: p.Report.LateShare(), Cost: p.Report.Cost()}); on.holds(at) {
			b := f.place(on.x(at.Late), margin+frontierTall*(1-on.y(at.Cost)))
			b.Class, b.Letter, b.Policy = class(p.Name), mark(p.Name), plain(p.Name)
			b.Says = fmt.Sprintf("%s: %s late at a cost of %s", b.Policy, share(at.Late), decimal(at.Cost, 2))
			f.Points = append(f.Points, b)
			said = append(said, b.Says)
		}
	}
	f.Description = strings.Join(said, "; ") + "."
	return f
}

// place puts a badge on its point, or above or below it where another one stands there already, at a width of 700.
func (f *frontier) place(x, y float64) badge {
	const apart, wide = 21, 700
	free := func(at float64) bool {
		if at < margin || at > margin+frontierTall {
			return false
		}
		for _, other := range f.Points {
			if math.Hypot(wide*(x-other.x), at-other.y) < apart {
				return false
			}
		}
		return true
	}
	out := badge{X: hundredths(x), Dot: decimal(y, 1), x: x, y: y}
	for _, by := range []float64{0, -apart - 1, apart + 1, -2*apart - 2, 2*apart + 2} {
		if free(y + by) {
			out.y, out.Moved = y+by, by != 0
			break
		}
	}
	out.Y = decimal(out.y, 1)
	return out
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

package chart

// UpwardBand shades a range of the X axis, with arrows up along its top: the value is a lower bound.
func (c *Chart) UpwardBand(from, to float64) { c.shade("bound", "arrows", arrows, from, to) }

// HatchedBand shades a range with hatching, so that it differs from UpwardBand without colours: the value is unknown.
func (c *Chart) HatchedBand(from, to float64) { c.shade("gap", "hatch", c.hatch, from, to) }

// shade fills the part of a range that is on the axis, at a visible width, and draws its pattern.
func (c *Chart) shade(class, pattern string, draw func(p *pen, left, right float64), from, to float64) {
	const narrowest = 3
	from, to = max(from, c.X.From), min(to, c.X.To)
	if !(from < to) {
		return
	}
	left := c.Across * c.X.At(from)
	right := max(c.Across*c.X.At(to), left+narrowest)
	c.add(class, "M"+coord(left)+" 0H"+coord(right)+"V"+coord(c.Up)+"H"+coord(left)+"z")
	var p pen
	draw(&p, left, right)
	c.add(pattern, p.String())
}

func arrows(p *pen, left, right float64) {
	const apart, half, size = 19, 3.5, 6
	n := max(1, int((right-left)/apart))
	for i := range n {
		at := left + (right-left)*(float64(i)+0.5)/float64(n)
		p.WriteString("M" + coord(at-half) + " 8h" + coord(2*half) + "l" + coord(-half) + " " + coord(-size) + "z")
	}
}

// hatch draws lines that rise by 45 degrees.
func (c *Chart) hatch(p *pen, left, right float64) {
	const apart = 9
	width := right - left
	for at := apart/2 - c.Up; at < width; at += apart {
		from, to := max(at, 0), min(at+c.Up, width)
		p.WriteString(
			"M" + coord(left+from) + " " + coord(c.Up-from+at) + "L" + coord(left+to) + " " + coord(c.Up-to+at),
		)
	}
}
